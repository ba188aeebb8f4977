#!/usr/bin/env python3
"""hostile.py [-n PAIRS] [-B BUILD]

Whether `edenscope stat -p` of a healthy process, and that process, are slowed by a hundred hostile processes of an
ordinary user (tests/programs/hostile/). A pair is a run without them and one beside them; which comes first alternates.
Printed are the ratios, beside by without: the CPU time of the program and of the tool from start to end, the wall time
from the go to the program's end, and that time of a program that nobody observes: what the processes take by
themselves. Then how long `edenscope list` takes beside them, three times, and what it says of what it could not read.
FUSE tricks are left out: docs/security.md says why.
"""
import argparse
import contextlib
import os
import subprocess
import time

import pairs

TRICKS = ["lock", "endless", "classes", "cycle", "lengths", "elf overlap", "elf many", "elf symbols", "heaps", "churn"]
NOBODY = "65534"


def cpu(process):
    """Waits for the process; its CPU time in seconds."""
    used = os.wait4(process.pid, 0)[2]
    process.returncode = 0
    return used.ru_utime + used.ru_stime


def start_program(build):
    program = subprocess.Popen([build + "/tests/exercise", "--wait", "100"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    program.stdout.readline()
    return program


def run_program(program):
    """From the go to its end, in seconds."""
    begun = time.monotonic()
    program.stdin.write("\n")
    program.stdin.close()
    program.stdout.read()
    return time.monotonic() - begun


def measure(build):
    """A program without the tool, and one under stat: their wall times, and the CPU times of the second and of the
    tool, in seconds."""
    unobserved = start_program(build)
    alone = run_program(unobserved)
    unobserved.wait()
    program = start_program(build)
    tool = subprocess.Popen([build + "/bin/edenscope", "stat", "-v", "-o", "/dev/null", "-p", str(program.pid), "0.1"],
                            stderr=subprocess.PIPE, text=True)
    if not any("attached in" in line for line in tool.stderr):
        raise SystemExit("hostile.py: edenscope cannot attach here")
    wall = run_program(program)
    used = cpu(program)
    tool.stderr.read()
    return {"program": used, "tool": cpu(tool), "wall": wall, "unobserved": alone}


@contextlib.contextmanager
def hundred(build):
    processes = [subprocess.Popen([build + "/tests/hostile", "--seconds", "120", "--user", NOBODY,
                                   *TRICKS[i % len(TRICKS)].split()], stdout=subprocess.PIPE, text=True)
                 for i in range(100)]
    try:
        for process in processes:
            process.stdout.readline()
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def beside(build):
    with hundred(build):
        return measure(build)


def time_list(build):
    begun = time.monotonic()
    done = subprocess.run([build + "/bin/edenscope", "list"], capture_output=True, text=True)
    return time.monotonic() - begun, done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=10, metavar="PAIRS")
    parser.add_argument("-B", default="build", metavar="BUILD")
    arguments = parser.parse_args()
    measure(arguments.B)
    ratios = {"program": [], "tool": [], "wall": [], "unobserved": []}
    for i in range(arguments.n):
        sides = [measure, beside]
        first, second = (sides[(i + j) % 2](arguments.B) for j in range(2))
        without, with_them = (first, second) if i % 2 == 0 else (second, first)
        for name, values in ratios.items():
            values.append(with_them[name] / without[name])
    print(f"beside 100 hostile processes (A), and without (B), {arguments.n} pairs")
    for name, values in ratios.items():
        pairs.summary(name, values)
    with hundred(arguments.B):
        listed = [time_list(arguments.B) for _ in range(3)]
    print(f"list: {', '.join(f'{seconds:.1f} s' for seconds, _ in listed)}, status {listed[-1][1].returncode}")
    print(listed[-1][1].stderr.rstrip())


if __name__ == "__main__":
    main()

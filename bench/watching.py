#!/usr/bin/env python3
"""watching.py [-n ROUNDS] -B BUILD -- DATA

What it costs a program that `edenscope record -a` or `edenscope export -a` watches the whole machine, and whether
anything stays once the tool has ended.

A pair is a program and a copy of it without the probes' notes, which no tool attaches to, at the same time on one CPU,
where the kernel lets them take turns every few milliseconds: a machine whose speed changes hits both alike. A round is a
pair on each CPU before the tool has run, beside it, and after it has ended. Printed are ratios of the CPU time of the
program by that of its copy, with their 95% intervals, and the tool's own CPU time. The programs are the data frame on
DATA, and bench/mourning.c, whose ephemerons die as fast as they are made. Other programs on the machine that use Eden are
watched, too: end them first.
"""
import argparse
import concurrent.futures
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import pairs

PORT = 19464
EPHEMERONS = "100000000"  # a second or so of scavenges, each of which fires a thousand; fewer would be a measure of starting


def answers():
    try:
        return urllib.request.urlopen(f"http://127.0.0.1:{PORT}/metrics", timeout=1).status == 200
    except (urllib.error.URLError, OSError):
        return False


class Tool:
    """edenscope, from when it observes until it is interrupted."""

    def __init__(self, build, name, folder):
        self.name = name
        self.said = os.path.join(folder, "said")
        words = {"record": ["record", "-v", "-a", "-o", os.path.join(folder, "eden.data")],
                 "export": ["export", "-v", "-a", "--listen", f"127.0.0.1:{PORT}"]}[name]
        with open(self.said, "w") as said:
            self.child = subprocess.Popen([os.path.join(build, "bin", "edenscope"), *words], stderr=said)
        end = time.monotonic() + 60
        while not self.observes():
            if self.child.poll() is not None or time.monotonic() > end:
                self.child.kill()
                raise pairs.Failure(f"edenscope {name} -a cannot watch this machine: {open(self.said).read()}")
            time.sleep(0.02)

    def observes(self):
        return answers() if self.name == "export" else "attached in" in open(self.said).read()

    def end(self):
        """Its CPU time in seconds."""
        self.child.send_signal(signal.SIGINT)
        _, status, used = os.wait4(self.child.pid, 0)
        self.child.returncode = os.waitstatus_to_exitcode(status)
        if self.child.returncode not in (0, 128 + signal.SIGINT):
            raise pairs.Failure(f"edenscope {self.name} -a gave status {self.child.returncode}")
        return used.ru_utime + used.ru_stime


def run_on(cpu, program, library):
    """The CPU time of one run there."""
    name = os.path.basename(program[0])
    _, processes = pairs.measure(program, library, SELFTIME_PIN=f"{name}:{cpu}")
    return next(process["cpu"] for process in processes if process["name"] == name)


def ratios(program, copy, library):
    """Of a pair on each CPU, all at the same time."""
    cpus = sorted(os.sched_getaffinity(0))
    with concurrent.futures.ThreadPoolExecutor(2 * len(cpus)) as pool:
        runs = [[pool.submit(run_on, cpu, words, library) for words in (program, copy)] for cpu in cpus]
        return [seen.result() / unseen.result() for seen, unseen in runs]


def round_of(build, name, program, copy, library, folder):
    """The ratios of each kind, and the tool's CPU time."""
    sides = {"before": ratios(program, copy, library)}
    tool = Tool(build, name, folder)
    try:
        sides["beside"] = ratios(program, copy, library)
    finally:
        spent = tool.end()
    sides["after"] = ratios(program, copy, library)
    return sides, spent


def without_notes(program, folder):
    """The words of a copy that has no probes for a tool; with their addresses nothing else has changed."""
    copy = os.path.join(folder, os.path.basename(program[0]))
    subprocess.run(["objcopy", "--remove-section", ".note.stapsdt", program[0], copy], check=True)
    return [copy, *program[1:]]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("-n", type=int, default=15)
    parser.add_argument("-B", dest="build", default="build")
    parser.add_argument("data")
    arguments = parser.parse_args()
    build = arguments.build
    library = os.path.abspath(os.path.join(build, "bench", "selftime.so"))
    programs = {"dataframe": [os.path.join(build, "workloads", "dataframe"), arguments.data],
                "mourning": [os.path.join(build, "bench", "mourning"), EPHEMERONS]}
    with tempfile.TemporaryDirectory() as folder:
        for program, words in programs.items():
            copy = without_notes(words, folder)
            ratios(words, copy, library)  # warms caches; not counted
            for name in ("record", "export"):
                rounds = [round_of(build, name, words, copy, library, folder) for _ in range(arguments.n)]
                print(f"{program} and edenscope {name} -a ({len(rounds)} rounds; the tool took "
                      f"{sum(spent for _, spent in rounds) / len(rounds):.3f} s of CPU time each)", flush=True)
                for side in ("before", "beside", "after"):
                    pairs.summary(side, [ratio for sides, _ in rounds for ratio in sides[side]])


if __name__ == "__main__":
    try:
        main()
    except pairs.Failure as failure:
        sys.exit(f"watching.py: {failure}")

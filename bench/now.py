#!/usr/bin/env python3
"""now.py [-n RUNS] [-B BUILD]

How long `edenscope` takes to say that a process is in a collection, from its start to the line that says so on its
output. The process stands still within the marking of a full collection (tests/programs/held.c) for a second before.
Printed are the least, the median and the longest time of RUNS, of each command.
"""
import argparse
import os
import statistics
import subprocess
import time


def seconds_to_say(command):
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as tool:
        said = None
        for line in tool.stdout:
            if said is None and "in full.mark for" in line:
                said = time.monotonic() - began
    if said is None:
        raise SystemExit(f"now.py: {' '.join(command)} does not say it")
    return said


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("-n", type=int, default=20)
    options.add_argument("-B", default="build")
    chosen = options.parse_args()
    scope = chosen.B + "/bin/edenscope"
    with subprocess.Popen([chosen.B + "/tests/held", "2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env=dict(os.environ, EDEN_OPTIONS="policy=fixed,eden_size=1M")) as held:
        held.stdout.readline()
        time.sleep(1)
        pid = str(held.pid)
        for arguments in (["list"], ["list", "-p", pid], ["stat", "-p", pid, "0.2", "1"], ["stat", "-a", "0.2", "1"]):
            took = [seconds_to_say([scope, *arguments]) for _ in range(chosen.n)]
            shown = " ".join(arguments).replace(pid, "PID")
            print(f"{shown}: {min(took):.3f} s, median {statistics.median(took):.3f} s, at most {max(took):.3f} s")
        held.stdin.write(b"\n")


main()

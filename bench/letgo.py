#!/usr/bin/env python3
"""letgo.py [-n PAIRS] [-s SECONDS] [-r SECONDS] [-B BUILD] [-o FILE] [ARGUMENT OF LIFETIMES ...]

Whether `edenscope lifetimes -p PID 10` leaves a process as fast as it was, and with nothing allocated for it.

One process (bench/steady.c) does the same work round after round and prints the CPU time of each. A pair is SECONDS (-r,
10) before and after the tool was attached for a while (-s, 10 seconds), and is followed by one where nothing was
attached for as long, which measures the machine by itself. It prints the medians of the rounds, after over
before: the geometric mean over the pairs, its 95% interval and the range; what it cost meanwhile; and the bytes of
malloc after over before. The exit status is 1 where bytes stayed, never because of a time.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import life_programs
import pairs


class Process:
    """A running `steady`."""

    def __init__(self, build):
        # What was freed into malloc's caches of small pieces, mallinfo has as allocated.
        environment = dict(os.environ, GLIBC_TUNABLES="glibc.malloc.tcache_count=0")
        self.child = subprocess.Popen([os.path.join(build, "bench", "steady")], stdout=subprocess.PIPE, text=True,
                                      env=environment)

    def rounds(self, until):
        """CPU seconds and bytes of malloc of the rounds that end until then, or until the process `until` ends, or of
        one at least; the first one is left out: it may have begun before."""
        seen = []
        while len(seen) < 2 or (until.poll() is None if isinstance(until, subprocess.Popen)
                                else time.monotonic() < until):
            words = self.child.stdout.readline().split()
            if len(words) != 2:
                raise pairs.Failure("steady has ended")
            seen.append((int(words[0]) / 1e9, int(words[1])))
        return seen[1:]


def middle(rounds):
    return statistics.median(cpu for cpu, _ in rounds)


def attach(build, process, seconds, arguments):
    """The rounds while the tool is attached, or, without arguments, while as much time goes by."""
    if arguments is None:
        return process.rounds(time.monotonic() + seconds)
    words = [os.path.join(build, "bin", "edenscope"), "lifetimes", *arguments, "-o", os.devnull, "-p",
             str(process.child.pid), str(seconds)]
    with subprocess.Popen(words) as tool:
        seen = process.rounds(tool)
    if tool.returncode != 0:
        raise pairs.Failure(f"{' '.join(words)} gave status {tool.returncode}")
    return seen


def measure(arguments, process, tool):
    before = process.rounds(time.monotonic() + arguments.rest)
    during = attach(arguments.build, process, arguments.seconds, tool)
    process.rounds(time.monotonic() + 1)  # the collection that lets go
    after = process.rounds(time.monotonic() + arguments.rest)
    return {"after": middle(after) / middle(before), "during": middle(during) / middle(before),
            "left_bytes": after[-1][1] - before[-1][1]}


def show(what, entries):
    ratios = [entry["after"] for entry in entries]
    mean, bounds = pairs.interval(ratios)
    between = f"{bounds[0]:.4f}..{bounds[1]:.4f}" if bounds else "-"
    during = statistics.median(entry["during"] for entry in entries)
    print(f"  {what:20} after/before mean {mean:.4f}  95% interval {between}  range {min(ratios):.4f}..{max(ratios):.4f}"
          f"  meanwhile {during:.3f}  left {max(entry['left_bytes'] for entry in entries)} bytes")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("-n", type=int, default=10)
    parser.add_argument("-s", "--seconds", type=float, default=10)
    parser.add_argument("-r", "--rest", type=float, default=10)
    parser.add_argument("-B", "--build", default="build")
    parser.add_argument("-o", "--output")
    arguments, tool = parser.parse_known_args()
    tool = [word for word in tool if word != "--"]
    output = arguments.output or os.path.join(arguments.build, "bench", "letgo.json")
    entries = {"attached": [], "nothing": []}
    process = Process(arguments.build)
    try:
        process.rounds(time.monotonic() + 1)
        for _ in range(arguments.n):
            entries["attached"].append(measure(arguments, process, tool))
            entries["nothing"].append(measure(arguments, process, None))
            life_programs.write_whole(output, json.dumps(entries, indent=1) + "\n")
    except pairs.Failure as failure:
        sys.exit(f"letgo.py: {failure}")
    finally:
        process.child.kill()
        process.child.wait()
    show("lifetimes " + " ".join(tool), entries["attached"])
    show("nothing attached", entries["nothing"])
    return int(any(entry["left_bytes"] > 0 for entry in entries["attached"]))


if __name__ == "__main__":
    sys.exit(main())

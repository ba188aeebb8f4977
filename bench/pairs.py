#!/usr/bin/env python3
"""pairs.py [-n PAIRS] --selftime LIB -a 'COMMAND A' -b 'COMMAND B' -- PROGRAM [ARGUMENT ...]

Runs PROGRAM alone and under prefixes, in pairs, and prints the ratio A/B of the program's own CPU and wall time.

A prefix is a command that PROGRAM is appended to (`edenscope record -o F --`), or assignments for env(1); it may be
empty. The two take turns, and which goes first alternates, so a machine whose speed drifts hits both alike. Printed: the
median of the ratios, their range, and a 95% confidence interval of the geometric mean (Student's t on the logarithms of
the pairwise ratios).
"""
import argparse
import math
import os
import shlex
import statistics
import subprocess
import sys
import tempfile

# Two-sided 95% quantiles of Student's t by degrees of freedom; for others that of the next smaller one.
T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 9: 2.262, 14: 2.145, 19: 2.093, 24: 2.064, 29: 2.045, 39: 2.023,
       59: 2.001, 119: 1.980}


class Failure(Exception):
    """A run could not be made, or can't be measured."""


def measure(command, library, **variables):
    """Runs a command, with these environment variables. What it printed, and of each process of the run, as it ended:
    its name, wall and CPU time in seconds, and its peak of resident memory in bytes."""
    with tempfile.NamedTemporaryFile() as out:
        environment = dict(os.environ, SELFTIME=out.name, LD_PRELOAD=library, **variables)
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise Failure(f"{shlex.join(command)} failed:\n{done.stderr}")
        lines = [line.rstrip("\n").split(" ", 4) for line in open(out.name)]
    return done.stdout, [{"name": name, "wall": int(wall) / 1e9, "cpu": (int(user) + int(system)) / 1e6,
                          "peak": int(peak) * 1024} for wall, user, system, peak, name in lines]


def run(prefix, program, library):
    words = shlex.split(prefix)
    command = (["env"] if words and "=" in words[0] else []) + words + program
    # The program is the process that took the most CPU time.
    return max(measure(command, library)[1], key=lambda process: process["cpu"])


def interval(ratios):
    """The geometric mean, and its 95% interval, or None for that of a single ratio."""
    logs = [math.log(ratio) for ratio in ratios]
    mean = statistics.fmean(logs)
    if len(logs) < 2:
        return math.exp(mean), None
    half = T95[max(f for f in T95 if f < len(logs))] * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), (math.exp(mean - half), math.exp(mean + half))


def summary(name, ratios):
    mean, bounds = interval(ratios)
    print(f"  {name:5} A/B median {statistics.median(ratios):.4f}  range {min(ratios):.4f}..{max(ratios):.4f}"
          f"  mean {mean:.4f}" + ("  95% interval {:.4f}..{:.4f}".format(*bounds) if bounds else ""))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("-n", type=int, default=30)
    parser.add_argument("-a", default="")
    parser.add_argument("-b", default="")
    parser.add_argument("--selftime", required=True)
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()
    library = os.path.abspath(arguments.selftime)
    run(arguments.a, arguments.program, library)  # warms caches; not counted
    pairs = []
    for pair in range(arguments.n):
        sides = {}
        for side in ("ab", "ba")[pair % 2]:
            sides[side] = run(getattr(arguments, side), arguments.program, library)
        pairs.append(sides)
    for figure in ("cpu", "wall"):
        a = statistics.median(sides["a"][figure] for sides in pairs)
        b = statistics.median(sides["b"][figure] for sides in pairs)
        print(f"  {figure:5} A {a:.3f} s, B {b:.3f} s (medians of {len(pairs)})")
        summary(figure, [sides["a"][figure] / sides["b"][figure] for sides in pairs])


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"pairs.py: {failure}")

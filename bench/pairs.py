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

# Two-sided 95% quantiles of Student's t by degrees of freedom; beyond 120 the normal's.
T95 = {4: 2.776, 9: 2.262, 14: 2.145, 19: 2.093, 24: 2.064, 29: 2.045, 39: 2.023, 59: 2.001, 119: 1.980}


def t95(freedom):
    smaller = [f for f in T95 if f <= freedom]
    return T95[max(smaller)] if smaller else 12.706


def run(prefix, program, library):
    with tempfile.NamedTemporaryFile() as out:
        environment = dict(os.environ, SELFTIME=out.name, LD_PRELOAD=library)
        words = shlex.split(prefix)
        command = (["env"] if words and "=" in words[0] else []) + words + program
        done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"pairs.py: {shlex.join(command)} failed:\n{done.stderr}")
        # Every process of the run adds a line; the program is the one that took the most CPU time.
        lines = [[int(word) for word in line.split()] for line in open(out.name)]
    wall, user, system = max(lines, key=lambda line: line[1])
    return {"wall": wall / 1e9, "cpu": (user + system) / 1e6}


def summary(name, ratios):
    logs = [math.log(ratio) for ratio in ratios]
    mean = statistics.fmean(logs)
    half = t95(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    low, high = math.exp(mean - half), math.exp(mean + half)
    print(f"  {name:5} A/B median {statistics.median(ratios):.4f}  range {min(ratios):.4f}..{max(ratios):.4f}"
          f"  mean {math.exp(mean):.4f}  95% interval {low:.4f}..{high:.4f}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
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
    main()

#!/usr/bin/env python3
"""remembered.py [-n RUNS] PROGRAM

What a large old array costs a scavenge with remembered_set=object and =card; PROGRAM is bench/remembered.

Each setting is a pattern of stores. It runs with both sets, into one large array and into small ones, RUNS times in
turn. Times are those of the phases, from EDEN_LOG, medians of the scavenges of a run; ratios are of runs that followed
each other: their median and their range.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROUNDS = 31
WARM = 3  # scavenges of a run that are not counted: the first stores touch memory for the first time
# Places (bench/remembered.c), slots, stores, and what that is.
SETTINGS = [
    ("same", 10_000_000, 1000, "at the same random places each time"),
    ("new", 10_000_000, 1000, "at new random places each time, those of last time cleared"),
    ("next", 10_000_000, 10_000, "row after row, as into an Array of a data frame, whose scavenges took 52 times as long in the "
     "tuning paper"),
    ("next", 1_000_000, 100_000, "row after row: much is stored into, so that cards spare little"),
]
SIDES = [(remembered_set, holder) for holder in ("large", "small") for remembered_set in ("object", "card")]


def run(program, *arguments):
    with tempfile.NamedTemporaryFile() as log:
        environment = dict(os.environ, EDEN_LOG=log.name)
        environment.pop("EDEN_OPTIONS", None)  # would overrule the set
        done = subprocess.run([program, *map(str, arguments), str(ROUNDS)], env=environment)
        if done.returncode != 0:
            sys.exit(f"remembered.py: {program} failed")
        lines = [json.loads(line) for line in open(log.name)][WARM - ROUNDS:]
    figures = {name: statistics.median(line[name] for line in lines) for name in ("remembered_ns", "duration_ns")}
    return figures | {"survivors": lines[-1]["survivors_after"]}


def show(what, runs, a, b, figure):
    ratios = [sides[a][figure] / sides[b][figure] for sides in runs]
    print(f"  {what:45} {statistics.median(ratios):8.1f}   {min(ratios):.1f}..{max(ratios):.1f}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-n", type=int, default=7)
    parser.add_argument("program")
    arguments = parser.parse_args()
    for places, slots, stores, what in SETTINGS:
        runs = []
        for i in range(arguments.n):
            order = SIDES if i % 2 == 0 else SIDES[::-1]
            runs.append({side: run(arguments.program, *side, places, slots, stores) for side in order})
            if len({figures["survivors"] for figures in runs[-1].values()}) != 1:
                sys.exit("remembered.py: not the same objects survived with both sets")
        print(f"{stores:,} young objects stored into {slots:,} old slots between scavenges,\n  {what}")
        print("                           remembered phase       scavenge")
        for side in SIDES:
            phase, all_of_it = (statistics.median(sides[side][figure] for sides in runs) / 1e3
                                for figure in ("remembered_ns", "duration_ns"))
            holder = "one array" if side[1] == "large" else "arrays of 64"
            print(f"  {holder:14} {side[0]:8} {phase:13,.1f} us {all_of_it:11,.1f} us")
        print(f"  {'ratios':45} {'median':>8}   range")
        large = ("object", "large"), ("card", "large")
        show("object to card, one array: remembered phase", runs, *large, "remembered_ns")
        show("object to card, one array: scavenge", runs, *large, "duration_ns")
        for name in ("object", "card"):
            show(f"one array to arrays of 64, {name}: scavenge", runs, (name, "large"), (name, "small"), "duration_ns")
        print(flush=True)


if __name__ == "__main__":
    main()

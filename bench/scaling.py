#!/usr/bin/env python3
"""scaling.py [--most BYTES] [--alive BYTES] [--seconds S] PROGRAM

How collections grow with what they have to do; PROGRAM is bench/scaling. EDEN_OPTIONS is added to the options of each run.

Scavenges by the bytes that survive, 64 KiB to 32 MiB; full collections by the bytes that are alive, 10 MB to --most (8
GB), and of a heap with 32,000 segments beside the same in few; then a program that has --alive bytes (4 GB), and replaces
them at random for S seconds (60), with pause_goal=10. Times are from EDEN_LOG, medians of ROUNDS collections of a run. An
exponent is the slope of the least squares through the logarithms: 1 means in proportion.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

from peers import least_utilisation, quantile, read_pauses

ROUNDS = 7
WINDOWS_MS = (1, 10, 100, 1000, 10000)
FULL = "policy=fixed,eden_size=16M,full_gc_ratio=inf"


def run(program, options, *arguments):
    """What it prints, and the log: lines, pauses."""
    with tempfile.NamedTemporaryFile() as log:
        given = os.environ.get("EDEN_OPTIONS")
        environment = os.environ | {"EDEN_LOG": log.name, "EDEN_OPTIONS": ",".join(filter(None, (options, given)))}
        done = subprocess.run([program, *map(str, arguments)], env=environment, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"scaling.py: {program} failed")
        lines = open(log.name).readlines()
        return done.stdout, [json.loads(line) for line in lines], read_pauses("eden", lines)


def medians(lines, kind, *names):
    """Of the last ROUNDS collections of a kind."""
    last = [line for line in lines if line["kind"] == kind][-ROUNDS:]
    return [statistics.median(line[name] for line in last) for name in names]


def exponent(sizes, times):
    return statistics.linear_regression([math.log(size) for size in sizes], [math.log(time) for time in times]).slope


def ms(ns):
    return f"{ns / 1e6:10.3f}"


def scavenges(program):
    print("  survivors, KiB   scavenge, ms   ns a KiB")
    sizes, times = [], []
    for kib in (2 ** i for i in range(6, 16)):
        _, lines, _ = run(program, "policy=fixed,eden_size=256M", "scavenge", kib * 1024, ROUNDS + 3)
        survived, took = medians(lines, "scavenge", "survivors_after", "duration_ns")
        sizes.append(survived)
        times.append(took)
        print(f"  {survived / 1024:14,.0f}   {ms(took):>12}   {took / survived * 1024:8.0f}", flush=True)
    print(f"  scavenges grow with the survivors by an exponent of {exponent(sizes, times):.3f}\n")


def fulls(program, most):
    print("      alive, MB   segments   mark, ms   sweep, ms   all, ms   ns marked a KB")
    sizes, marks, all_of_it = [], [], []
    size = 10_000_000
    while size <= most:
        _, lines, _ = run(program, FULL, "full", size, ROUNDS)
        alive, count, mark, sweep, took = medians(lines, "full", "survived_bytes", "segments", "mark_ns", "sweep_ns",
                                                  "duration_ns")
        sizes.append(alive)
        marks.append(mark)
        all_of_it.append(took)
        print(f"  {alive / 1e6:13,.0f}   {count:8,.0f} {ms(mark)}  {ms(sweep)} {ms(took)}   {mark / alive * 1000:14.0f}",
              flush=True)
        size = size * 2 if size * 2 <= most or size == most else most
    print(f"  marking grows with the live heap by an exponent of {exponent(sizes, marks):.3f}, "
          f"full collections by {exponent(sizes, all_of_it):.3f}\n")


def many_segments(program):
    size = 32_000 * 65_536
    print("  the same heap    segments   mark, ms   sweep, ms   all, ms   scavenge, ms")
    for name, options in (("in few segments", ""), ("in many", ",grow_headroom=64K")):
        _, lines, _ = run(program, FULL + options, "full", size, ROUNDS)
        count, mark, sweep, took = medians(lines, "full", "segments", "mark_ns", "sweep_ns", "duration_ns")
        scavenge, = medians(lines, "scavenge", "duration_ns")
        print(f"  {name:15}   {count:9,.0f} {ms(mark)}  {ms(sweep)} {ms(took)}   {ms(scavenge):>12}", flush=True)
    print()


def change(program, alive, seconds):
    printed, lines, pauses = run(program, "pause_goal=10", "change", alive, seconds)
    begin, made = map(int, printed.split())
    end = begin + seconds * 10**9
    within = [(a, b) for a, b in pauses if b > begin and a < end]
    took = [b - a for a, b in within]
    fulls = sum(line["kind"] == "full" and begin < line["time_ns"] < end for line in lines)
    print(f"  {alive / 1e9:.1f} GB alive, pause_goal=10, {made / seconds / 1e6:.1f} million nodes of 32 bytes replaced a "
          f"second: {len(took)} pauses, {fulls} full collections")
    print(f"  pauses, ms: P50 {ms(quantile(took, 0.5)).strip()}, P99 {ms(quantile(took, 0.99)).strip()}, "
          f"longest {ms(max(took)).strip()}")
    print("  minimum mutator utilisation: " + ", ".join(
        f"{least_utilisation(within, begin, end, window * 10**6):.0%} of {window:,} ms" for window in WINDOWS_MS))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--most", type=int, default=8_000_000_000)
    parser.add_argument("--alive", type=int, default=4_000_000_000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("program")
    arguments = parser.parse_args()
    scavenges(arguments.program)
    fulls(arguments.program, arguments.most)
    many_segments(arguments.program)
    change(arguments.program, arguments.alive, arguments.seconds)


if __name__ == "__main__":
    main()

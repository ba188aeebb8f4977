#!/usr/bin/env python3
"""Predictions of `edenscope simulate` against real runs, over a grid of parameters, on the five programs.

Each program is recorded once, with the grid's smallest eden; then run at each point of the grid. What it should come
to: scavenges within 2% (or 1), tenured bytes within 10%, full collections within 10% (or 1). Nothing is timed: points
that exceed a bound are counted and the worst named, program by program, beside what real runs do whose eden is a
hundredth smaller or larger: no closer can a prediction be relied on.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

EDENS = ["1M", "2M", "4M", "8M", "16M", "32M", "64M"]
RATIOS = ["0.33", "1", "2.5", "10"]
PROPORTIONS = ["0.1", "0.5", "0"]
RECORD_WITH = "policy=fixed,eden_size=1M,full_gc_ratio=0,grow_headroom=64K,tenure_fill=0,tenure_proportion=0.02"
# Sizes that take a second or so.
PROGRAMS = {
    "dataframe": [],
    "honeyginger": ["--steps", "150"],
    "mobidyc": ["--steps", "40"],
    "bloc": ["--frames", "60000"],
    "moose": ["--classes", "1352"],
}
# name in the output, key of the figures, relative bound
FIGURES = [("scavenges", "scavenges", 0.02), ("tenured", "tenured_bytes", 0.10), ("fulls", "full_collections", 0.10)]


def run(command, **environment):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                   env={**os.environ, **environment})


def real(command, options, folder):
    """The figures of the program's heap, from EDEN_STATS."""
    path = os.path.join(folder, "stats")
    if os.path.exists(path):
        os.unlink(path)
    run(command, EDEN_OPTIONS="policy=fixed," + options, EDEN_STATS=path)
    with open(path, encoding="utf-8") as file:
        return json.loads(file.readline())


def nearby(command, options, key, folder):
    """The figure in real runs with an eden one hundredth smaller and larger."""
    eden, *others = options.split(",")
    size = eden.removeprefix("eden_size=")
    kibibytes = int(size[:-1]) * {"K": 1, "M": 1024}[size[-1]]
    edens = [kibibytes * percentage // 400 * 4 for percentage in (99, 101)]
    return [real(command, ",".join([f"eden_size={near}K", *others]), folder)[key] for near in edens]


def exceeds(figure, predicted, measured, bound):
    """Counts may be off by one whatever they are; bytes by the bound only."""
    least = 0 if figure == "tenured" else 1
    return abs(predicted - measured) > max(bound * measured, least)


def percent(predicted, measured):
    if measured == 0:
        return f"{predicted} for 0"
    return f"{100 * (predicted - measured) / measured:+.1f}%"


def record(name, command, arguments, folder):
    if arguments.recordings:
        return os.path.join(arguments.recordings, f"{name}.data")
    path = os.path.join(folder, "recording")
    run([os.path.join(arguments.build, "bin/edenscope"), "record", "--lifetimes=details", "--sampling", "all",
         "-o", path, "--", *command], EDEN_OPTIONS=RECORD_WITH)
    return path


def compare(name, arguments, folder, known):
    command = [os.path.join(arguments.build, "workloads", name), *PROGRAMS[name]]
    command += [arguments.data] if name == "dataframe" else []
    words = ["eden_size=" + ",".join(arguments.edens), "full_gc_ratio=" + ",".join(arguments.ratios),
             "tenure_proportion=" + ",".join(arguments.proportions)]
    seen = subprocess.run([os.path.join(arguments.build, "bin/edenscope"), "simulate", "--json", "-i",
                           record(name, command, arguments, folder), *words], check=True, stdout=subprocess.PIPE)
    beyond = {figure: 0 for figure, _, _ in FIGURES}
    worst = {figure: (0, None) for figure, _, _ in FIGURES}
    points = 0
    for predicted in json.loads(seen.stdout)["predictions"]:
        point = f"{name} {predicted['options']}"
        if point not in known:
            known[point] = real(command, predicted["options"], folder)
        measured = known[point]
        points += 1
        line = []
        for figure, key, bound in FIGURES:
            bad = exceeds(figure, predicted[key], measured[key], bound)
            beyond[figure] += bad
            off = abs(predicted[key] - measured[key]) / max(measured[key], 1)
            if bad and off > worst[figure][0]:
                worst[figure] = (off, (predicted["options"], key, predicted[key], measured[key]))
            line.append(f"{figure} {measured[key]} {predicted[key]} {percent(predicted[key], measured[key])}{'*' * bad}")
        if arguments.verbose:
            print(f"{point}: {'; '.join(line)}")
    print(f"{name:<12} {points:>6}", *(f"{beyond[figure]:>10}" for figure, _, _ in FIGURES))
    for figure, (off, point) in worst.items():
        if off:
            options, key, predicted, measured = point
            less, more = nearby(command, options, key, folder)
            share = f", {percent(predicted, measured)}" if measured else ""
            print(f"{'':<12} worst in {figure}: {options}: {predicted} for {measured}{share}; "
                  f"with eden 1% smaller {less}, larger {more}")
    sys.stdout.flush()
    return points, sum(beyond.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-B", dest="build", default="build")
    parser.add_argument("--programs", default="")
    parser.add_argument("--edens", default=",".join(EDENS))
    parser.add_argument("--ratios", default=",".join(RATIOS))
    parser.add_argument("--proportions", default=",".join(PROPORTIONS))
    parser.add_argument("--recordings", help="a folder of recordings made before, NAME.data each")
    parser.add_argument("--real", help="a file that keeps what real runs did, for the next time")
    parser.add_argument("-v", dest="verbose", action="store_true", help="a line a point: real, predicted, error")
    parser.add_argument("data", help="the data frame's file")
    arguments = parser.parse_args()
    for axis in ("edens", "ratios", "proportions"):
        setattr(arguments, axis, getattr(arguments, axis).split(","))
    names = arguments.programs.replace(",", " ").split() or list(PROGRAMS)
    known = {}
    if arguments.real and os.path.exists(arguments.real):
        with open(arguments.real, encoding="utf-8") as file:
            known = json.load(file)
    unknown = [name for name in names if name not in PROGRAMS]
    if unknown:
        sys.exit(f"{unknown[0]}: not one of the programs {', '.join(PROGRAMS)}")
    print(f"{'program':<12} {'points':>6}", *(f"{figure:>10}" for figure, _, _ in FIGURES), " points beyond the bound")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            compare(name, arguments, folder, known)
    if arguments.real:
        with open(arguments.real, "w", encoding="utf-8") as file:
            json.dump(known, file)


if __name__ == "__main__":
    main()

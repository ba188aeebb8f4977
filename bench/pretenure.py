#!/usr/bin/env python3
"""pretenure.py [-n PAIRS] BENCH DATAFRAME CSV

What pretenuring spares: time in collections (EDEN_STATS) and of the whole run, with pretenure=FILE and =auto over
pretenure=none, as ratios of runs that followed each other: their median and their range.

`steady` keeps its records, `turn` keeps them in its first half only (bench/pretenure.c); dataframe keeps rows and cells
until its columns are built. All with policy=fixed, for what is spared depends on the age of tenuring. Outputs must be
equal, whatever is pretenured.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

FILES = {
    "steady": "class Record\nclass Text\n",
    "turn": "class Record\nclass Text\n",
    "dataframe": "site DataFrameCsvReader>>readCell\nsite DataFrameCsvReader>>readRow\n",
}
SIDES = ("none", "file", "auto")


def run(command, pretenure):
    with tempfile.NamedTemporaryFile() as stats:
        environment = dict(os.environ, EDEN_STATS=stats.name, EDEN_OPTIONS="policy=fixed,pretenure=" + pretenure)
        start = time.monotonic()
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE)
        whole = time.monotonic() - start
        if done.returncode != 0:
            sys.exit(f"pretenure.py: {' '.join(command)} failed with pretenure={pretenure}")
        heap = json.loads(stats.readline())
    return {"gc": heap["gc_ns"] / 1e9, "whole": whole, "copied": heap["survived_bytes"] / 1e6,
            "fulls": heap["full_collections"], "born_old": heap["pretenured_objects"], "output": done.stdout}


def bench(name, command, pairs):
    with tempfile.NamedTemporaryFile("w") as names:
        names.write(FILES[name])
        names.flush()
        values = {"none": "none", "file": names.name, "auto": "auto"}
        runs = []
        for i in range(pairs + 1):
            order = SIDES if i % 2 == 0 else SIDES[::-1]
            runs.append({side: run(command, values[side]) for side in order})
            if len({figures["output"] for figures in runs[-1].values()}) != 1:
                sys.exit(f"pretenure.py: {name} prints something else where objects are pretenured")
    runs = runs[1:]  # the first warms caches
    print(f"{name}: {len(runs)} runs of each, medians")
    for side in SIDES:
        gc, whole, copied, fulls, born_old = (statistics.median(sides[side][figure] for sides in runs)
                                              for figure in ("gc", "whole", "copied", "fulls", "born_old"))
        print(f"  {side:5} collections {gc:7.3f} s  whole {whole:7.3f} s  copied {copied:9.1f} MB"
              f"  full collections {fulls:3.0f}  born old {born_old:10,.0f}")
    for side in SIDES[1:]:
        for figure in ("gc", "whole"):
            ratios = [sides[side][figure] / sides["none"][figure] for sides in runs]
            print(f"  {side}/none {figure:5} median {statistics.median(ratios):.3f}  "
                  f"range {min(ratios):.3f}..{max(ratios):.3f}")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-n", type=int, default=10)
    parser.add_argument("bench")
    parser.add_argument("dataframe")
    parser.add_argument("csv")
    arguments = parser.parse_args()
    bench("steady", [arguments.bench, "steady"], arguments.n)
    bench("turn", [arguments.bench, "turn"], arguments.n)
    bench("dataframe", [arguments.dataframe, arguments.csv], arguments.n)


if __name__ == "__main__":
    main()

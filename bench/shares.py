#!/usr/bin/env python3
"""shares.py [-n SEEDS] [--programs LIST] [-B BUILD] [-o FILE] CSV

Whether the samples of 1% and 0.1% of all objects have the classes' shares of all objects: each program runs under
`edenscope lifetimes` once with every object counted, and once for each rate and seed (EDEN_SAMPLING_SEED). Printed is,
for each class of which a run has ten samples or more, how many standard errors the mean over the seeds is off its exact
share.

Of so many means, an unbiased sampling too puts one in a hundred or so beyond 3: an error estimated from 20 runs is
itself uncertain. What is beyond 3 is looked at again with 100 other seeds, by which a bias would stand out twice as far
and chance comes back. Beyond 3 there as well is WRONG, and so is a run that lost anything; then the exit status is 1.
The JSON file has all shares.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile

import life_programs
import lifetimes_table
from life_programs import RATES

SAMPLED = {"1/100": 100, "1/1000": 1000}
ERRORS = 3  # standard errors that a mean may be off
ENOUGH = 10  # samples that a run is expected to have of a class
AGAIN = 100  # seeds of the second look


def errors(exact, runs, rate):
    """How far the mean share of each class that has enough samples is off, in standard errors. exact, runs: objects of
    each class, counted and estimated from one in `rate`."""
    total = sum(exact.values())
    off = {}
    for name in exact:
        if exact[name] < ENOUGH * rate:
            continue
        shares = [run.get(name, 0) / sum(run.values()) for run in runs]
        error = statistics.stdev(shares) / len(shares) ** 0.5
        distance = abs(statistics.mean(shares) - exact[name] / total)
        off[name] = distance / error if error else 0.0 if distance == 0 else float("inf")
    return off


def count(build, program, sampling, seed):
    """Objects by class, as estimated."""
    os.environ["EDEN_SAMPLING_SEED"] = str(seed)
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "seen.json")
        life_programs.profile(build, sampling, output, program, "--json")
        seen = life_programs.load(output)
    objects = {}
    for row in seen["classes"]:
        objects[row["name"]] = objects.get(row["name"], 0) + row["objects"]
    return objects, life_programs.problems(seen, sampling)


def sample(build, program, sampling, seeds, problems):
    runs = []
    for seed in seeds:
        objects, found = count(build, program, sampling, seed)
        runs.append(objects)
        problems += found
    return runs


def measure(build, name, program, seeds):
    exact, problems = count(build, program, "all", 1)
    for sampling, rate in SAMPLED.items():
        runs = sample(build, program, sampling, range(1, seeds + 1), problems)
        off = errors(exact, runs, rate)
        beyond, again, doubted = [each for each in off if off[each] > ERRORS], [], {}
        if beyond:
            again = sample(build, program, sampling, range(seeds + 1, seeds + AGAIN + 1), problems)
            second = errors(exact, again, rate)
            doubted = {each: second[each] for each in beyond}
            problems += [f"{each}: {off[each]:.2f} standard errors off, and {second[each]:.2f} by {AGAIN} other seeds"
                         for each in beyond if second[each] > ERRORS]
        yield {"program": name, "sampling": sampling, "exact": exact, "seeds": runs, "errors": off, "again": again,
               "errors_again": doubted, "problems": problems}
        problems = []


def show(entry):
    exact, total = entry["exact"], sum(entry["exact"].values())
    print(f"\n{entry['program']} at {RATES[entry['sampling']]}: {len(entry['seeds'])} seeds, {total:,.0f} objects\n")
    rows = []
    for name in sorted(entry["errors"], key=lambda each: -exact[each]):
        shares = [100 * run.get(name, 0) / sum(run.values()) for run in entry["seeds"]]
        rows.append([name, f"{100 * exact[name] / total:.4f}%", f"{statistics.mean(shares):.4f}%",
                     f"{min(shares):.4f}..{max(shares):.4f}", f"{entry['errors'][name]:.2f}"])
    lifetimes_table.grid(["class", "share", "mean", "range", "standard errors off"], rows)
    for name, error in entry["errors_again"].items():
        print(f"  {name}: {entry['errors'][name]:.2f} standard errors off; by {AGAIN} other seeds {error:.2f}")
    for problem in entry["problems"]:
        print(f"  WRONG: {problem}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("-n", type=int, default=20)
    parser.add_argument("-B", "--build", default="build")
    parser.add_argument("-o", "--output")
    parser.add_argument("--programs", default="")
    parser.add_argument("data")
    arguments = parser.parse_args()
    output = arguments.output or os.path.join(arguments.build, "bench", "shares.json")
    if arguments.n < 2:
        parser.error("at least two seeds: one has no error")
    try:
        programs = life_programs.chosen(arguments.programs, life_programs.FULL, "programs")
    except ValueError as error:
        parser.error(str(error))
    entries = []
    for name in programs:
        program = life_programs.command(name, life_programs.FULL, arguments.build, arguments.data)
        try:
            for entry in measure(arguments.build, name, program, arguments.n):
                entries.append(entry)
                show(entry)
                life_programs.write_whole(output, json.dumps(entries, indent=1) + "\n")
        except RuntimeError as error:
            sys.exit(f"shares.py: {error}")
    print(f"\n{output} has every share")
    return int(any(entry["problems"] for entry in entries))


if __name__ == "__main__":
    sys.exit(main())

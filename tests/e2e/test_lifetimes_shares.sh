#!/usr/bin/env bash
# The samples of 1% and 0.1% of all objects have the classes' shares of all objects: over 20 seeds the mean is within 3
# standard errors of what counting every object gives, for each class with ten samples a run or more, in each of the five
# programs; and the same seed chooses the same samples, another one others.
#
# The programs are linked to a listener of the test's own (programs/shares.c), which is quicker than to attach a tool 200
# times. Seeds are fixed, so the outcome is. About one share in a hundred lies beyond 3 standard errors by
# chance with other seeds; `make bench-shares` runs larger problems.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

"$build/workloads/mkdata" --rows 6000 >"$folder/data.csv"

PYTHONPATH=bench python3 - "$build/tests/shares-" "$folder" <<'PYTHON'
import os
import subprocess
import sys

from shares import ERRORS, errors

prefix, folder = sys.argv[1:]
SEEDS = range(1, 21)
PROGRAMS = {
    "dataframe": ["--image", "0", folder + "/data.csv"],
    "honeyginger": ["--columns", "10", "--rows", "10", "--steps", "50"],
    "mobidyc": ["--width", "60", "--height", "60", "--goats", "600", "--wolves", "60", "--steps", "40"],
    "bloc": ["--boids", "100", "--frames", "200"],
    "moose": ["--classes", "60"],
}


def counts(name, rate, seed):
    """Samples by class, of one object in `rate`."""
    shares = folder + "/shares"
    request = rate << 16 | 0x11  # objects, asked for: probes/eden_batches.h
    subprocess.run([prefix + name, *PROGRAMS[name]], check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, EDEN_SAMPLING=hex(request), EDEN_SAMPLING_SEED=str(seed), SHARES=shares))
    lines = [line.rstrip("\n").split(" ", 1) for line in open(shares)]
    return {name: int(count) for count, name in lines}


wrong = []
for name in PROGRAMS:
    exact = counts(name, 1, 1)
    for rate in 100, 1000:
        seen = [counts(name, rate, seed) for seed in SEEDS]
        if counts(name, rate, SEEDS[0]) != seen[0] or seen[0] == seen[1]:
            wrong.append(f"{name}: the seed does not choose the samples")
        off = errors(exact, seen, rate)
        wrong += [f"{name}, 1 in {rate}: {each} is {off[each]:.2f} standard errors off its share"
                  for each in off if off[each] > ERRORS]
        print(f"{name}, 1 in {rate} of {sum(exact.values())} objects: {len(off)} classes, at most "
              f"{max(off.values(), default=0):.2f} standard errors off")
        if not off:
            wrong.append(f"{name}: too small")
for line in wrong:
    print(line)
sys.exit(bool(wrong))
PYTHON

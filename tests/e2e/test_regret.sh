#!/usr/bin/env bash
# The regret of policy=auto: over steps and phase changes of a program's live size and survival, how much more work its
# collections are than those of the best fixed setting of equal memory, out of a grid of eden_size, tenure_proportion and
# full_gc_ratio. Work is bytes copied, marked and swept, by the log: the same in each run, whatever the machine does.
# `test_regret.sh -v` tries more settings, and prints the best ones of each program.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

phases=$PWD/$build/tests/phases
[[ -x $phases ]] || die "no $phases: run make test-programs"
cd "$folder"
python3 - "$phases" "${1:-}" <<'PYTHON' || die "policy=auto is more work than it may be"
import itertools, json, os, subprocess, sys

LIMIT = "max_heap=64M,gc_threads=1"
# Work for a byte, in bytes swept, as measured for the rule (probes/eden_policy.h, section 5). All that survives here is
# scattered: the table, which is old, refers to it.
COPIED, IN_PLACE, MARKED = 8, 0.5, 4
# Program: steps (tests/programs/phases.c), and at most so many times the work of the best setting.
PROGRAMS = {
    "live size grows": ("2:5:r:60 8:5:r:60 16:5:r:60 28:5:r:60", 1.15),
    "live size shrinks": ("28:5:r:60 16:5:r:60 8:5:r:60 2:5:r:60", 1.15),
    "survival changes": ("12:1:r:120 12:50:r:120 12:5:r:120 12:100:f:120 12:1:r:120", 1.15),
    "a cache, then a queue": ("24:100:r:120 24:100:f:120", 1.15),
    "quiet, then a table": ("1:0:r:100 30:0:r:0 1:0:r:100 30:5:r:300", 1.15),
    "all of it": ("2:1:r:80 24:20:r:120 4:100:f:120 30:2:r:120 1:50:f:120 16:100:r:120", 1.15),
    # Known to be worse: the program is another one before the first or second full collection of a phase.
    "quiet, then all lives, in short phases": ("1:0:r:100 30:0:r:0 1:0:r:100 30:0:r:60", 1.6),
    "all of it, in short phases": ("2:1:r:40 24:20:r:60 4:100:f:60 30:2:r:60 1:50:f:60 16:100:r:60", 1.6),
}
edens, tenures, ratios = ("4M", "16M"), ("0", "1"), ("0.5", "3")
if sys.argv[2]:
    edens, tenures, ratios = ("1M", "4M", "8M", "16M"), ("0", "0.1", "1"), ("0.33", "1", "3")
GRID = [f"policy=fixed,{LIMIT},eden_size={eden},tenure_proportion={tenure},full_gc_ratio={ratio}"
        for eden, tenure, ratio in itertools.product(edens, tenures, ratios)]


def work(options, steps):
    """Copied, marked and swept bytes; None: the setting does not fit in the limit."""
    if os.path.exists("log"):
        os.unlink("log")
    done = subprocess.run([sys.argv[1], *steps], env={**os.environ, "EDEN_OPTIONS": options, "EDEN_LOG": "log"},
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        assert "out of memory" in done.stderr, done.stderr
        return None
    copied = in_place = marked = swept = 0
    for line in map(json.loads, open("log")):
        if line["kind"] == "scavenge" and line["in_place"]:
            in_place += line["tenured_bytes"]
        elif line["kind"] == "scavenge":
            copied += line["survivors_after"] + line["tenured_bytes"]
        elif line["kind"] == "full":
            marked += line["survived_bytes"]
            swept += line["old_used_before"]
    return COPIED * copied + IN_PLACE * in_place + MARKED * marked + swept, copied, in_place, marked, swept


bad = 0
for name, (words, bound) in PROGRAMS.items():
    steps = words.split()
    auto = work(f"policy=auto,{LIMIT}", steps)
    assert auto, f"{name}: policy=auto has no room"
    assert auto == work(f"policy=auto,{LIMIT}", steps), f"{name}: two runs differ"
    settings = sorted((of, options) for options in GRID for of in [work(options, steps)] if of)
    regret = auto[0] / settings[0][0][0]
    bad += regret > bound
    plain = sum(auto[1:]) / min(sum(of[1:]) for of, _ in settings)
    print(f"{name}: {regret:.2f} times the work of the best of {len(settings)}; {plain:.2f} times the bytes")
    if sys.argv[2] or regret > bound:
        for of, options in [(auto, "policy=auto"), *settings[:3]]:
            print("    {:7.1f} MiB: copied {:.1f}, in place {:.1f}, marked {:.1f}, swept {:.1f}".format(
                *(n / 2**20 for n in of)), options)
sys.exit(bool(bad))
PYTHON

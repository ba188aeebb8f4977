#!/usr/bin/env bash
# A process that was observed holds nothing for it afterwards: its malloc has as many bytes as before, to the byte, and
# had more meanwhile; whatever was sampled, and also where the tool was killed. What it costs is for `make bench-letgo`.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
make --no-print-directory -s B="$build" "$build/bench/steady"
PYTHONPATH=bench python3 - "$build" <<'PYTHON'
import os
import subprocess
import sys
import time

import letgo

build = sys.argv[1]
process = letgo.Process(build)
LIMIT = 120  # seconds until something counts as never


def held(rounds):
    return [bytes for _, bytes in rounds]


def rounds_until(holds):
    """What it holds after each round, until that holds of them."""
    end = time.monotonic() + LIMIT
    seen = held(process.rounds(time.monotonic()))
    while not holds(seen) and time.monotonic() < end:
        seen += held(process.rounds(time.monotonic()))
    return seen


def attached(arguments):
    """What it holds while the tool is attached for a while, for twice as long until something was measured."""
    seconds, seen = 0.5, [0]
    while max(seen) <= before and seconds < LIMIT:
        seen = held(letgo.attach(build, process, seconds, arguments))
        seconds *= 2
    return seen


def killed():
    words = [os.path.join(build, "bin", "edenscope"), "lifetimes", "--sampling", "all", "-p", str(process.child.pid)]
    tool = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    seen = rounds_until(lambda seen: max(seen) > before)
    tool.kill()
    tool.wait()
    return seen


try:
    steady = rounds_until(lambda seen: len(seen) >= 10 and len(set(seen[-10:])) == 1)[-10:]
    assert len(set(steady)) == 1, f"it is not steady: {steady}"
    before = steady[0]
    for arguments in (["--sampling", "all"], ["--details", "--sampling", "all"], ["--stacks", "--sampling", "1/100"],
                      ["--sampling", "1/10", "--mechanism", "ephemeron"], None):
        during = attached(arguments) if arguments else killed()
        assert max(during) > before, (arguments, "nothing was measured", before, during)
        after = rounds_until(lambda seen: seen[-1] == before)[-1]  # it takes a collection
        assert after == before, (arguments, before, after)
finally:
    process.child.kill()
    process.child.wait()
print("nothing is held for listeners that have left")
PYTHON

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


def held(rounds):
    return [bytes for _, bytes in rounds]


def settles(at):
    """Whether it comes to hold so much again, which takes a collection; what it holds in the end."""
    end = time.monotonic() + 20
    after = held(process.rounds(time.monotonic() + 0.1))
    while after[-1] != at and time.monotonic() < end:
        after = held(process.rounds(time.monotonic() + 0.1))
    return after[-1]


def killed():
    words = [os.path.join(build, "bin", "edenscope"), "lifetimes", "--sampling", "all", "-p", str(process.child.pid)]
    tool = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    seen = process.rounds(time.monotonic() + 1.5)
    tool.kill()
    tool.wait()
    return seen


try:
    process.rounds(time.monotonic() + 0.5)
    before = held(process.rounds(time.monotonic() + 0.5))
    assert len(set(before)) == 1, f"it is not steady: {before}"
    before = before[0]
    for arguments in (["--sampling", "all"], ["--details", "--sampling", "all"], ["--stacks", "--sampling", "1/100"],
                      ["--sampling", "1/10", "--mechanism", "ephemeron"], None):
        during = held(letgo.attach(build, process, 0.6, arguments) if arguments else killed())
        assert max(during) > before, (arguments, "nothing was measured", before, during)
        after = settles(before)
        assert after == before, (arguments, before, after)
finally:
    process.child.kill()
    process.child.wait()
print("nothing is held for those who have left")
PYTHON

#!/usr/bin/env python3
"""watching.py [-n PAIRS] -B BUILD -- DATA

What it costs a program that `edenscope record -a` or `edenscope export -a` watches the whole machine, and whether
anything stays once the tool has ended.

First come as many runs of a program as there are rounds, before any tool has run: `never`. A round is three runs: beside
the tool, after the tool has ended, and one more without it; which comes first alternates. Printed are ratios of the
program's own CPU and wall time, beside and after by without, and without by never, with their 95% intervals, and the
tool's own CPU time. The programs are the data frame on DATA, and
bench/mourning.c, whose ephemerons die as fast as they are made. Other programs on the machine that use Eden are watched,
too: end them first.
"""
import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import pairs

PORT = 19464


def answers():
    try:
        return urllib.request.urlopen(f"http://127.0.0.1:{PORT}/metrics", timeout=1).status == 200
    except (urllib.error.URLError, OSError):
        return False


class Tool:
    """edenscope, from when it observes until it is interrupted."""

    def __init__(self, build, name, folder):
        self.name = name
        self.said = os.path.join(folder, "said")
        words = {"record": ["record", "-v", "-a", "-o", os.path.join(folder, "eden.data")],
                 "export": ["export", "-v", "-a", "--listen", f"127.0.0.1:{PORT}"]}[name]
        with open(self.said, "w") as said:
            self.child = subprocess.Popen([os.path.join(build, "bin", "edenscope"), *words], stderr=said)
        end = time.monotonic() + 60
        while not self.observes():
            if self.child.poll() is not None or time.monotonic() > end:
                self.child.kill()
                raise pairs.Failure(f"edenscope {name} -a cannot watch this machine: {open(self.said).read()}")
            time.sleep(0.02)

    def observes(self):
        return answers() if self.name == "export" else "attached in" in open(self.said).read()

    def end(self):
        """Its CPU time in seconds."""
        self.child.send_signal(signal.SIGINT)
        _, status, used = os.wait4(self.child.pid, 0)
        self.child.returncode = os.waitstatus_to_exitcode(status)
        if self.child.returncode not in (0, 128 + signal.SIGINT):
            raise pairs.Failure(f"edenscope {self.name} -a gave status {self.child.returncode}")
        return used.ru_utime + used.ru_stime


def round_of(number, build, name, program, library, folder):
    """One run of each kind, and the tool's CPU time."""
    sides = {}

    def without():
        sides["without"] = pairs.run("", program, library)

    def with_tool():
        tool = Tool(build, name, folder)
        try:
            sides["beside"] = pairs.run("", program, library)
        finally:
            sides["tool"] = tool.end()
        sides["after"] = pairs.run("", program, library)

    for part in (without, with_tool) if number % 2 else (with_tool, without):
        part()
    return sides


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("-n", type=int, default=30)
    parser.add_argument("-B", dest="build", default="build")
    parser.add_argument("data")
    arguments = parser.parse_args()
    build = arguments.build
    library = os.path.abspath(os.path.join(build, "bench", "selftime.so"))
    programs = {"dataframe": [os.path.join(build, "workloads", "dataframe"), arguments.data],
                "mourning": [os.path.join(build, "bench", "mourning")]}
    with tempfile.TemporaryDirectory() as folder:
        for program, words in programs.items():
            pairs.run("", words, library)  # warms caches; not counted
            never = [pairs.run("", words, library) for _ in range(arguments.n)]
            for name in ("record", "export"):
                rounds = [round_of(i, build, name, words, library, folder) for i in range(arguments.n)]
                print(f"{program} beside edenscope {name} -a, and after it ({len(rounds)} rounds; the tool took "
                      f"{sum(sides['tool'] for sides in rounds) / len(rounds):.3f} s of CPU time each)", flush=True)
                for side in ("beside", "after"):
                    for figure in ("cpu", "wall"):
                        pairs.summary(f"{side} {figure}",
                                      [sides[side][figure] / sides["without"][figure] for sides in rounds])
                for figure in ("cpu", "wall"):
                    pairs.summary(f"without {figure}, by never",
                                  [sides["without"][figure] / first[figure] for sides, first in zip(rounds, never)])


if __name__ == "__main__":
    try:
        main()
    except pairs.Failure as failure:
        sys.exit(f"watching.py: {failure}")

#!/usr/bin/env python3
"""tune_grid.py [-n ROUNDS] [--budget SECONDS] [--programs LIST] [--points N] [-o FILE] [-B BUILD] CSV

How good `edenscope tune` is, against an exhaustive grid of parameters, on programs that run for two seconds or less.

For each program: the grid, each point run once, in an order that has nothing to do with its values; what the rules
propose (`tune --emit options`, root; left out where it can't record); of a search (`tune --search`, within twice the
memory of before) the point that it recommends, that of least GC time within the memory, and that of least GC time
whatever the memory. Then the five best of the grid within twice the memory of the program as it is, the five best of
all, the tuned points and the program as it is are run in rounds, one run each, the order reversed each time. Compared
are the ratios, round by round, to the grid's best. The odd rounds choose the best of the five for the even rounds
and the other way round: the least of five medians is also the luckiest, and must not be judged by the runs that chose
it.

- least_within, and the rules' point, with the best within the memory;
- recommended with the best of those that don't make the whole slower than the program as it is (more CPU time in each
  round, and by 2% on the median), as the search recommends none of these;
- least_gc with the best of all, again without those.

A tuned point is good if the median of its GC time is at most 1.1 times that of the best, or less than 0.1% of the run
above it, and its memory at most twice the best's. The exit status is 1 if recommended or least_within is not.

--points N takes so many points of the grid, by chance, to see it work. The JSON file is written anew after each program:
a list of {"program", "command", "points", "rounds", "default", "grid": [...], "within", "least_within", "faster",
"recommended", "rules", "any", "least_gc", "search_runs", "search_s", "failed"}, where a run or a median of runs is
{"options", "gc_s", "time_s", "cpu_s", "memory_bytes", "max_pause_s"} and a tuned point has in addition "gc_ratio" and
"time_ratio" ({"min", "median", "max"}) and "memory_ratio" to the grid's best, "good_gc" and "good_memory".
"""
import argparse
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

import life_programs

# 6 * 3 * 3 * 2 * 2 = 216 points. The first value of each axis but eden is the default, which policy=fixed takes.
GRID = {
    "eden_size": ["4M", "8M", "16M", "32M", "64M", "256M"],
    "full_gc_ratio": ["0.33", "1", "4"],
    "tenure_proportion": ["0.1", "0", "1"],
    "compactor": ["selective", "none"],
    "grow_headroom": ["16M", "128M"],
}
BEST = 5
GOOD_GC, GOOD_MEMORY, GC_OF_RUN, SLOWER = 1.1, 2, 0.001, 1.02
TOO_LONG = 10  # at most so many times what the program takes as it is, and a second, may a run of the grid take

# Arguments that make each program run for about a second on a machine of today.
ARGUMENTS = {
    "dataframe": [],
    "honeyginger": ["--steps", "200"],
    "mobidyc": ["--steps", "40"],
    "bloc": ["--frames", "100000"],
    "moose": ["--classes", "1352"],
    "queue": ["5000000"],
}


def commands(build, data):
    """Name and command of each program there is. `shifting` changes its pattern half-way; steady, turn and queue are the
    micro-benchmarks."""
    found = {name: life_programs.command(name, ARGUMENTS, build, data) for name in ARGUMENTS}
    found["steady"] = [os.path.join(build, "bench", "pretenure"), "steady", "500000"]
    found["turn"] = [os.path.join(build, "bench", "pretenure"), "turn", "500000"]
    found["shifting"] = [os.path.join(build, "workloads", "patterns"), "shifting"]
    return {name: command for name, command in found.items() if os.path.exists(command[0])}


def trial(command, options, most=None):
    """One run; None where it fails or takes longer than `most` seconds."""
    with tempfile.NamedTemporaryFile() as stats:
        environment = dict(os.environ, EDEN_STATS=stats.name, EDEN_OPTIONS=options)
        start = time.monotonic()
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            # Popen.wait would reap it, and with it what it took.
            while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
                if most and time.monotonic() - start > most:
                    process.kill()
                time.sleep(0.001)
            whole = time.monotonic() - start
        finally:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        heaps = [json.loads(line) for line in stats]
    if status != 0 or not heaps:
        return None
    return {"options": options, "gc_s": sum(heap["gc_ns"] for heap in heaps) / 1e9, "time_s": whole,
            "cpu_s": usage.ru_utime + usage.ru_stime, "memory_bytes": usage.ru_maxrss * 1024,
            "max_pause_s": max(heap["max_pause_ns"] for heap in heaps) / 1e9}


def median(runs):
    return {"options": runs[0]["options"]} | {figure: statistics.median(run[figure] for run in runs)
                                              for figure in runs[0] if figure != "options"}


def spread(ratios):
    return {"min": min(ratios), "median": statistics.median(ratios), "max": max(ratios)}


def is_slower(runs, before):
    """As the search has it: more CPU time in each round, and by 2% on the median."""
    ratios = [run["cpu_s"] / other["cpu_s"] for run, other in zip(runs, before)]
    return min(ratios) > 1 and statistics.median(ratios) > SLOWER


def grid_points(count):
    points = [",".join(f"{name}={value}" for name, value in zip(GRID, values))
              for values in itertools.product(*GRID.values())]
    random.Random(1).shuffle(points)
    return points[:count] if count else points


class Bench:
    def __init__(self, arguments):
        self.arguments = arguments
        self.scope = os.path.join(arguments.build, "bin", "edenscope")
        self.started = time.monotonic()

    def say(self, text):
        print(f"{time.monotonic() - self.started:6.0f} s  {text}", file=sys.stderr, flush=True)

    def rules(self, command):
        """The options that the rules propose; None where this machine can't record."""
        with tempfile.NamedTemporaryFile("r") as out:
            done = subprocess.run([self.scope, "tune", "--emit", "options", "-o", out.name, "--", *command],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            line = out.read().strip()
        return line.removeprefix("EDEN_OPTIONS=") if done.returncode == 0 else None

    def search(self, command):
        done = subprocess.run([self.scope, "tune", "--search", "--json", "--budget", str(self.arguments.budget), "--",
                               *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"tune_grid.py: the search failed: {done.stderr.strip().splitlines()[-1]}")
        return json.loads(done.stdout)

    def grid(self, command, first):
        runs = []
        for point in grid_points(self.arguments.points):
            run = trial(command, point, TOO_LONG * first["time_s"] + 1)
            if run:
                runs.append(run)
        return runs

    def rounds(self, command, options):
        """Medians and runs by options, each run in every round; what fails once is left out."""
        runs = {point: [] for point in options}
        for turn in range(self.arguments.n):
            for point in list(runs) if turn % 2 == 0 else list(runs)[::-1]:
                run = trial(command, point)
                if run:
                    runs[point].append(run)
        return {point: made for point, made in runs.items() if len(made) == self.arguments.n}

    def judge(self, runs, point, among):
        """A tuned point against the best of the grid's points that were rerun."""
        def best_by(rounds):
            return min((runs[other] for other in among), key=lambda made: median(made[rounds] or made)["gc_s"])

        tuned, by_even, by_odd = runs[point], best_by(slice(0, None, 2)), best_by(slice(1, None, 2))
        best = [(by_odd if turn % 2 == 0 else by_even)[turn] for turn in range(len(tuned))]
        result = median(tuned)
        reference = median(best_by(slice(None)))
        pairs = [(a, b) for a, b in zip(tuned, best) if b["gc_s"] > 0]
        result["gc_ratio"] = spread([a["gc_s"] / b["gc_s"] for a, b in pairs]) if pairs else None
        result["time_ratio"] = spread([a["time_s"] / b["time_s"] for a, b in zip(tuned, best)])
        result["memory_ratio"] = result["memory_bytes"] / reference["memory_bytes"]
        near = result["gc_s"] - reference["gc_s"] < GC_OF_RUN * reference["time_s"]
        result["good_gc"] = bool(near or (pairs and result["gc_ratio"]["median"] <= GOOD_GC))
        result["good_memory"] = result["memory_ratio"] <= GOOD_MEMORY
        return reference, result

    def program(self, name, command):
        first = trial(command, "")
        if not first:
            sys.exit(f"tune_grid.py: {' '.join(command)} failed")
        first = trial(command, "")
        self.say(f"{name}: {first['time_s']:.2f} s as it is; rules and search")
        proposed = self.rules(command)
        found = self.search(command)
        self.say(f"{name}: the grid")
        grid = self.grid(command, first)
        by_gc = sorted(grid, key=lambda run: run["gc_s"])
        within = [run["options"] for run in by_gc if run["memory_bytes"] <= GOOD_MEMORY * first["memory_bytes"]][:BEST]
        everywhere = [run["options"] for run in by_gc][:BEST]
        names = ("recommended", "least_within", "least_gc")
        recommended, least_within, least = searched = [found[name]["options"] for name in names]
        tuned = searched + ([proposed] if proposed is not None else [])
        self.say(f"{name}: {self.arguments.n} rounds")
        runs = self.rounds(command, dict.fromkeys(["", *tuned, *within, *everywhere]))
        within, everywhere = [[point for point in points if point in runs] for points in (within, everywhere)]
        if "" not in runs or not within or any(point not in runs for point in searched):
            sys.exit(f"tune_grid.py: {name}: a point failed when it was run again")
        result = {"program": name, "command": command, "points": len(grid), "rounds": self.arguments.n,
                  "default": median(runs[""]), "grid": grid, "search_runs": found["runs"], "search_s": found["took_s"],
                  "failed": len(grid_points(self.arguments.points)) - len(grid)}
        result["within"], result["least_within"] = self.judge(runs, least_within, within)
        result["rules"] = self.judge(runs, proposed, within)[1] if proposed in runs else None
        within, everywhere = [[point for point in points if not is_slower(runs[point], runs[""])] or [""]
                              for points in (within, everywhere)]
        result["faster"], result["recommended"] = self.judge(runs, recommended, within)
        result["any"], result["least_gc"] = self.judge(runs, least, everywhere)
        return result


def verdict(point):
    return "good" if point["good_gc"] and point["good_memory"] else "MEMORY" if point["good_gc"] else "GC TIME"


def print_row(name, what, point, gain):
    ratio = point.get("gc_ratio")
    print(f"{name:12} {what:12} {point['gc_s'] * 1e3:9.1f} {point['time_s'] * 1e3:9.0f} "
          f"{point['memory_bytes'] / 2**20:8.0f} {gain:6.2f} "
          + (f"{ratio['median']:6.2f} ({ratio['min']:.2f}-{ratio['max']:.2f}) " if ratio else f"{'':19}")
          + (f"{point['memory_ratio']:5.2f} {verdict(point):8} " if ratio is not None or "good_gc" in point
             else f"{'':15}") + f" {point['options'] or '(as it is)'}", flush=True)


def print_program(result):
    default = result["default"]["gc_s"]
    for what in ("default", "within", "least_within", "faster", "recommended", "rules", "any", "least_gc"):
        if result[what]:
            print_row(result["program"], what, result[what], result[what]["gc_s"] / default if default else 1)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("-n", type=int, default=5)
    parser.add_argument("--budget", type=float, default=60)
    parser.add_argument("--programs", default="")
    parser.add_argument("--points", type=int, default=0)
    parser.add_argument("-o", dest="output")
    parser.add_argument("-B", dest="build", default="build")
    parser.add_argument("data")
    arguments = parser.parse_args()
    output = arguments.output or os.path.join(arguments.build, "bench", "tune.json")
    known = commands(arguments.build, arguments.data)
    bench = Bench(arguments)
    results = []
    print(f"{'program':12} {'point':12} {'GC ms':>9} {'time ms':>9} {'MiB':>8} {'of GC':>6} "
          f"{'GC to best':>18} {'memory':>6} {'':9} options")
    for name in life_programs.chosen(arguments.programs, known, "programs"):
        results.append(bench.program(name, known[name]))
        print_program(results[-1])
        life_programs.write_whole(output, json.dumps(results, indent=1) + "\n")
    bad = [result["program"] for result in results
           if any(verdict(result[point]) != "good" for point in ("recommended", "least_within"))]
    if bad:
        sys.exit("tune_grid.py: not within a tenth of the grid's best, or with too much memory: " + ", ".join(bad))


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        sys.exit(f"tune_grid.py: {error}")

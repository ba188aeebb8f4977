#!/usr/bin/env python3
"""peers.py [-B BUILD] [--passes N] [--only 'PROGRAM ...'] [--systems 'SYSTEM ...'] [--scale full|quick] [--cpus N|all]
         [--timeout SECONDS] [--json FILE]

The same programs on eden and other systems, at equal memory limits: time, memory and pauses, side by side.

Each pass runs each program on each system in turn, every other pass in reverse. Times exclude the start of the process.
Before them comes a pass with each system's log of collections, for pauses and utilisation: logging takes time, so that
pass is not timed.
All systems must print the same checksum. `ratio` is the least time over that of the best collector; mimalloc and malloc
are no collectors. `eden:OPTIONS` is eden with these EDEN_OPTIONS too. docs/benchmarks.md explains the table.
"""
import argparse
import bisect
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

MB = 1 << 20
FREE = ("mimalloc", "malloc")  # no collectors, and no limit
UNLIMITED = FREE + ("ocaml",)
JAVA = {"serial": "-XX:+UseSerialGC", "parallel": "-XX:+UseParallelGC", "g1": "-XX:+UseG1GC"}
WHIPPET = tuple("whippet-" + name for name in ("semi", "mmc", "generational-mmc", "pcc"))
SYSTEMS = ("eden", *JAVA, "ocaml", "libgc", *WHIPPET, *FREE)
LISP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers", "program.lisp")
# Arguments, limit in MB, and what times are divided by, in the two scales. The first word is the program.
ROWS = {
    "full": [("gcbench 16", 64, 1), ("gcbench 20", 1024, 1), ("trees 18", 128, 1), ("trees 20", 512, 1),
             ("queue 1000000 50000000 left", 128, 1), ("queue 1000000 50000000 cleared", 128, 1),
             ("array 10000000 30000000 0", 1200, 1), ("array 10000000 10000000 8", 1200, 1),
             ("alloc 16 100000000", 64, 10**8), ("alloc 32 100000000", 64, 10**8), ("alloc 64 100000000", 64, 10**8),
             ("json 30000 2000 5", 256, 1), (f"lisp {LISP} 1000", 64, 1), ("lru 500000 10000000", 256, 1)],
    "quick": [("gcbench 10", 64, 1), ("trees 10", 64, 1), ("queue 10000 300000 left", 64, 1),
              ("queue 10000 300000 cleared", 64, 1), ("array 50000 200000 0", 64, 1), ("array 50000 50000 8", 64, 1),
              ("alloc 16 1000000", 64, 10**6), ("alloc 32 1000000", 64, 10**6), ("alloc 64 1000000", 64, 10**6),
              ("json 300 50 4", 64, 1), (f"lisp {LISP} 3", 64, 1), ("lru 5000 100000", 64, 1)],
}
NO_MEMORY = 3
WINDOWS_MS = (1, 10, 100, 1000)


class Failure(Exception):
    """A run without a result: an error, unless the system ran out of memory or time."""

    def __init__(self, message, is_error=True):
        super().__init__(message)
        self.is_error = is_error


def command(build, system, arguments, limit, log):
    """Returns the words of a command, and its environment. log: the file for its pauses; None: it keeps none."""
    folder = os.path.join(build, "bench", "peers")
    words = arguments.split()
    name, _, options = system.partition(":")
    set_by_driver = ("EDEN_", "GC_", "OCAML", "PEER_")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(set_by_driver)}
    if name in JAVA:
        return ["java", JAVA[name], f"-Xmx{limit}", "-XX:+ExitOnOutOfMemoryError",
                *([f"-Xlog:safepoint:file={log}:tn:filecount=0"] if log else []), "-XX:+UnlockExperimentalVMOptions",
                "-XX:CompileCommand=quiet", "-XX:CompileCommand=blackhole,Peers.consume",
                "-cp", f"{folder}/java", "Peers", *words], environment
    if name == "ocaml":
        return [f"{folder}/ocaml/peers", *words], environment
    environment |= {"EDEN_OPTIONS": ",".join(filter(None, (f"max_heap={limit}", options))),
                    "GC_MAXIMUM_HEAP_SIZE": str(limit), "PEER_LIMIT": str(limit)}
    environment |= {"EDEN_LOG": log, "PEER_PAUSES": log} if log else {}
    return [f"{folder}/{name}/{words[0]}", *words[1:]], environment


def is_built(build, system):
    file = "java/Peers.class" if system in JAVA else "ocaml/peers" if system == "ocaml" else f"{system}/gcbench"
    return os.path.exists(os.path.join(build, "bench", "peers", file))


def read_pauses(system, log):
    """Start and end of each stop of the program, in ns; None where the system does not report them."""
    if system in FREE or system == "ocaml":
        return None
    pauses = []
    for line in log:
        if system in JAVA:
            stop = re.match(r'\[(\d+)ns\] Safepoint "(\w*(?:GC|G1|Collect)\w*)".* Total: +(\d+) ns', line)
            if stop:
                pauses.append((int(stop[1]) - int(stop[3]), int(stop[1])))
            continue
        entry = json.loads(line)
        if entry.get("kind") == "lost":
            raise Failure("EDEN_LOG has lost lines")
        if entry.get("kind") == "policy":  # no pause
            continue
        end = entry["time_ns"] + entry["duration_ns"]
        if entry.get("kind") == "full":  # it follows its scavenge: one pause
            pauses[-1] = (pauses[-1][0], end)
        else:
            pauses.append((entry["time_ns"], end))
    return pauses


def least_utilisation(pauses, start, end, window):
    """The minimum mutator utilisation: the least share of any window that the program was not stopped in."""
    window = min(window, end - start)
    pauses = [(max(a, start), min(b, end)) for a, b in pauses if b > start and a < end]
    ends = [b for _, b in pauses]
    stopped = [0]
    for a, b in pauses:
        stopped.append(stopped[-1] + b - a)

    def stopped_before(time):
        i = bisect.bisect_right(ends, time)
        return stopped[i] + (max(0, time - pauses[i][0]) if i < len(pauses) else 0)

    # The worst window begins with a pause or ends with one.
    begins = [min(a, end - window) for a, _ in pauses] + [max(b - window, start) for b in ends]
    worst = max((stopped_before(begin + window) - stopped_before(begin) for begin in begins), default=0)
    return 1 - worst / window


def run(build, system, arguments, limit, timeout, is_logged):
    """Returns the figures of one run: times in s, CPU time of all threads, checksum, peak of resident memory in bytes, and
    where it is logged, pauses and utilisation."""
    with tempfile.NamedTemporaryFile("r") as log, tempfile.NamedTemporaryFile("r") as selftime:
        words, environment = command(build, system, arguments, limit, log.name if is_logged else None)
        # VmHWM at its end (selftime.c): ru_maxrss also counts what the process was before, a copy of this one.
        environment |= {"SELFTIME": selftime.name, "LD_PRELOAD": os.path.abspath(f"{build}/bench/selftime.so")}
        try:
            done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Failure(f"more than {timeout} s", is_error=False)
        if done.returncode == NO_MEMORY:
            raise Failure("out of memory", is_error=False)
        if done.returncode != 0:
            raise Failure(f"exit status {done.returncode}: {done.stderr.strip()[-500:]}")
        result = json.loads(done.stdout.splitlines()[-1])
        pauses = read_pauses(system.partition(":")[0], log) if is_logged else None
        line = selftime.readline()
        if not line:
            raise Failure("no line in SELFTIME: the process did not end by exit")
        _, user, kernel, peak, _ = line.split(" ", 4)
    start, end = result["start_ns"], result["end_ns"]
    figures = {"time_s": (end - start) / 1e9, "cpu_s": (int(user) + int(kernel)) / 1e6, "checksum": result["checksum"],
               "rss_bytes": int(peak) * 1024, "pauses_ns": None, "utilisation": None}
    if pauses is not None:
        pauses = [(a, b) for a, b in pauses if b > start and a < end]
        figures["pauses_ns"] = [b - a for a, b in pauses]
        figures["utilisation"] = {str(ms): least_utilisation(pauses, start, end, ms * 10**6) for ms in WINDOWS_MS}
    return figures


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, math.ceil(share * len(values)) - 1)] if values else 0


def summary(logged, runs):
    """The figures of a program on a system, from its logged run and the timed ones."""
    times = [figures["time_s"] for figures in runs]
    entry = {"times_s": times, "min_s": min(times), "median_s": statistics.median(times),
             "cpu_s": min(figures["cpu_s"] for figures in runs), "checksum": runs[0]["checksum"],
             "rss_bytes": max(figures["rss_bytes"] for figures in runs), "pauses": None}
    pauses = logged["pauses_ns"]
    if pauses is not None:
        entry["pauses"] = {"count": len(pauses), "p50_ns": quantile(pauses, 0.5), "p99_ns": quantile(pauses, 0.99),
                           "max_ns": max(pauses, default=0), "outside_s": min(entry["min_s"], logged["time_s"] - sum(pauses) / 1e9)}
        entry["utilisation"] = logged["utilisation"]
    return entry


def is_collector(system):
    return system not in FREE


def compare(row):
    """Adds to each system its ratio to the best collector, and the lower bound of its overhead (Cai et al. 2022): its
    time over the least that any collector spent outside its pauses."""
    entries = {name: entry for name, entry in row["systems"].items() if "min_s" in entry}
    best = min((entry["min_s"] for name, entry in entries.items() if is_collector(name)), default=None)
    outside = min((entry["pauses"]["outside_s"] for entry in entries.values() if entry["pauses"]), default=None)
    for name, entry in entries.items():
        entry["ratio"] = entry["min_s"] / best if best else None
        entry["overhead"] = entry["min_s"] / outside if outside and is_collector(name) else None


def seconds(ns):
    """A duration as the other drivers print it."""
    units = (("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1))
    unit, size = next((unit, size) for unit, size in units if ns >= size or size == 1)
    return f"{ns / size:.3g} {unit}"


def show(row):
    print(f"\n{row['name']}, {row['limit_bytes'] // MB} MB{', per allocation' if row['divisor'] > 1 else ''}")
    print(f"  {'system':24} {'min':>9} {'median':>9} {'ratio':>6} {'RSS':>8} {'pauses':>7} {'P50':>8} {'P99':>8}"
          f" {'max':>8} {'MMU10ms':>7} {'MMU100':>6} {'LBO':>6}")
    for name, entry in row["systems"].items():
        if "failure" in entry:
            print(f"  {name:24} {entry['failure'].splitlines()[0][:90]}")
            continue
        times = [seconds(entry[key] * 1e9 / row["divisor"]) for key in ("min_s", "median_s")]
        line = f"  {name:24} {times[0]:>9} {times[1]:>9} "
        line += f"{entry['ratio']:6.2f}" if entry["ratio"] else f"{'':6}"
        line += f" {entry['rss_bytes'] / MB:5.0f} MB"
        pauses = entry["pauses"]
        if pauses is not None:
            line += f" {pauses['count']:7}"
            line += "".join(f" {seconds(pauses[key]):>8}" for key in ("p50_ns", "p99_ns", "max_ns"))
            line += f" {entry['utilisation']['10']:7.2f} {entry['utilisation']['100']:6.2f} {entry['overhead']:6.2f}"
        elif is_collector(name):
            line += " not measured"
        print(line)
    sys.stdout.flush()


def show_means(rows, systems):
    print("\ngeometric means of the ratios")
    means = {}
    for system in systems:
        ratios = [row["systems"][system]["ratio"] for row in rows if row["systems"].get(system, {}).get("ratio")]
        if ratios:
            means[system] = math.exp(statistics.fmean(map(math.log, ratios)))
            print(f"  {system:24} {means[system]:6.2f}   rows: {len(ratios)} of {len(rows)}, at most {max(ratios):.2f}")
    return means


def name_of(arguments):
    return " ".join(os.path.basename(word) for word in arguments.split())


def measure(options, systems, rows):
    """Runs and prints everything. Returns whether there was no error."""
    runs, failures, errors = {}, {}, []
    todo = [(row, system) for row in rows for system in systems]
    for i in range(options.passes + 1):  # the first one is logged
        for (arguments, limit, _), system in todo if i % 2 == 0 else todo[::-1]:
            key = arguments, system
            if key in failures:
                continue
            if sys.stderr.isatty():
                print(f"\r\x1b[Kpass {i}: {name_of(arguments)}, {system}", end="", file=sys.stderr, flush=True)
            try:
                # Only a collector knows when an environment is dead.
                if arguments.startswith("lisp") and system in FREE and options.scale == "full":
                    raise Failure("can't free its environments", is_error=False)
                figures = run(options.build, system, arguments, limit * MB, options.timeout, i == 0)
                runs.setdefault(key, []).append(figures)
            except Failure as failure:
                failures[key] = str(failure)
                if failure.is_error:
                    errors.append(f"{name_of(arguments)} on {system}: {failure}")
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    written = []
    for arguments, limit, divisor in rows:
        row = {"name": name_of(arguments), "limit_bytes": limit * MB, "divisor": divisor, "systems": {}}
        for system in systems:
            key = arguments, system
            failure = failures.get(key)
            row["systems"][system] = {"failure": failure} if failure else summary(runs[key][0], runs[key][1:])
        sums = {figures["checksum"] for system in systems for figures in runs.get((arguments, system), [])}
        if len(sums) > 1:
            errors.append(f"{row['name']}: checksums differ: " + ", ".join(
                f"{system} {entry['checksum']}" for system, entry in row["systems"].items() if "checksum" in entry))
        compare(row)
        show(row)
        written.append(row)
    means = show_means(written, systems)
    unlimited = [system for system in systems if system in UNLIMITED]
    print(f"\n{options.passes} passes, {options.cpus} CPUs. No limit of memory: {', '.join(unlimited) or 'none'}.\n"
          "MMU: the least share of 10 and 100 ms that the program was not stopped. LBO: time over the least that a\n"
          "collector spent outside its pauses.")
    for error in errors:
        print(f"WRONG: {error}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"scale": options.scale, "passes": options.passes, "cpus": options.cpus, "rows": written,
                       "geometric_means": means, "errors": errors}, file, indent=1)
            file.write("\n")
    return not errors


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-B", dest="build", default="build")
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--only", default="", help="names of programs; default: all")
    parser.add_argument("--systems", default="", help="default: all that are built")
    parser.add_argument("--scale", type=str.lower, choices=ROWS, default="full")
    parser.add_argument("--cpus", default="1", help="CPUs to run on, or all")
    parser.add_argument("--timeout", type=int, default=300, help="seconds that a run may take")
    parser.add_argument("--json")
    options = parser.parse_args()
    systems = options.systems.split() or [system for system in SYSTEMS if is_built(options.build, system)]
    for system in systems:
        name = system.partition(":")[0]
        if name not in SYSTEMS or (":" in system and name != "eden"):
            sys.exit(f"peers.py: no system {system}; there are: {' '.join(SYSTEMS)}")
        if not is_built(options.build, name):
            sys.exit(f"peers.py: {system} is not built; type: scripts/setup peers && make bench-peers-programs")
    rows = [row for row in ROWS[options.scale] if not options.only or row[0].split()[0] in options.only.split()]
    if not rows or options.passes < 1:
        sys.exit("peers.py: nothing to run")
    if options.cpus != "all":
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-int(options.cpus):])
    sys.exit(0 if measure(options, systems, rows) else 1)


if __name__ == "__main__":
    main()

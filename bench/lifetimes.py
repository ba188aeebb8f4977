#!/usr/bin/env python3
"""lifetimes.py [-n PAIRS] [-e PAIRS] [--programs LIST] [--samplings LIST] [-o FILE] --selftime LIB [-B BUILD] CSV [CSV]

What `edenscope lifetimes` costs the five programs at each rate, with the tool attached and adding up in the kernel; and,
at 100%, what it costs to have the record of every object written to a file (`edenscope record --lifetimes=details`).

A pair is the program twice at the same time, alone and under the tool, both on one CPU, where the kernel lets them take
turns every few milliseconds: a machine whose speed changes, be it from second to second, hits both alike. (In turns, a
pair's ratio was off by 10%; so it is by 0.5%.) Each CPU has a pair at a time; the tool itself runs where there is room.
A round is a pair for each rate. Compared is the CPU time of the program's own process, kernel programs that it ran
into included; the tool's own CPU time stands beside it. Ephemerons, plain and pretenured, are compared in the same way
(-e rounds; the second CSV is the data frame's for them, 0 leaves them out).

Each run is checked: the program prints what it prints alone, nothing is lost, and every object born has died or was
alive at the end. A run where that is not so is reported, and the exit status is 1.

The JSON file is written at the end, as FILE.part after each program: a list of {"program", "mechanism", "sampling", "output", "pairs",
"time_ratio": {"min", "median", "max"}, "mean", "interval", "memory_ratio", "program_cpu_s", "tool_cpu_s",
"ns_per_object", "objects", "allocated_bytes", "paper_memory_ratio", "lost", "problems"} and, of pretenured
ephemerons, "gain". Ratios are of CPU time; means are geometric, intervals of 95%; "output" is "sums", added up in the
kernel. At 100% an entry has another one under the key "records", of the same with every record shipped to a file, where
"output" is "records" and "file_bytes" the size of the file.
"""
import argparse
import concurrent.futures
import json
import os
import queue
import statistics
import sys
import tempfile
import time

import life_programs
import lifetimes_table
import pairs
from life_programs import RATES

# Against the program alone: a side's name, its mechanism, and what becomes of the heaps' reports.
SIDES = {"vm": ("vm", "sums"), "records": ("vm", "records"), "ephemeron": ("ephemeron", "sums"),
         "pretenured": ("pretenured", "sums")}
EPHEMERONS = ("ephemeron", "pretenured")


def spread(ratios):
    return {"min": min(ratios), "median": statistics.median(ratios), "max": max(ratios)}


def process_named(processes, name):
    found = [process for process in processes if process["name"] == name]
    if len(found) != 1:
        raise pairs.Failure(f"{len(found)} processes named {name} ended in a run, not one")
    return found[0]


class Bench:
    def __init__(self, build, library):
        self.build = build
        self.library = os.path.abspath(library)
        self.printed = {}  # what each program prints alone
        self.cpus = queue.SimpleQueue()  # that no pair has
        for cpu in sorted(os.sched_getaffinity(0)):
            self.cpus.put(cpu)
        self.started = time.monotonic()

    def say(self, text):
        print(f"{time.monotonic() - self.started:6.0f} s  {text}", file=sys.stderr, flush=True)

    def warm(self, name, program):
        """One run that is not counted, for the caches and for what the program prints."""
        self.printed[name], _ = pairs.measure(program, self.library)

    def observe(self, program, mechanism, sampling, output, **variables):
        """One run under the tool: what the program printed, the processes, what was seen, and the bytes of a recording."""
        place = os.path.join(self.build, "bench")  # gigabytes may be too much for /tmp
        os.makedirs(place, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place) as folder:
            table, file = os.path.join(folder, "seen.json"), os.path.join(folder, "eden.data")
            if output == "sums":
                words = life_programs.lifetimes(self.build, sampling, table, "--mechanism", mechanism, "--json")
                printed, processes = pairs.measure(words + program, self.library, **variables)
                return printed, processes, life_programs.load(table), None
            printed, processes = pairs.measure(
                life_programs.record(self.build, sampling, file, mechanism) + program, self.library, **variables)
            life_programs.read_back(self.build, file, table)
            return printed, processes, life_programs.load(table), os.path.getsize(file)

    def run(self, name, program, cpu, side=None, sampling=None):
        """One run on this CPU; alone if there is no side."""
        tool, seen, file_bytes, problems = None, None, None, []
        pin = {"SELFTIME_PIN": f"{name}:{cpu}"}  # the tool runs where there is room
        if not side:
            printed, processes = pairs.measure(program, self.library, **pin)
        else:
            mechanism, output = SIDES[side]
            printed, processes, seen, file_bytes = self.observe(program, mechanism, sampling, output, **pin)
            tool = process_named(processes, "edenscope")["cpu"]
            problems = life_programs.problems(seen, sampling, mechanism)
        if printed != self.printed[name]:
            problems.append("the program printed something else")
        figures = process_named(processes, name)
        return figures | {"tool": tool, "seen": seen, "file_bytes": file_bytes, "problems": problems}

    def pair(self, name, program, side, sampling):
        """The runs alone and by the side, at the same time on a CPU that no other pair has."""
        cpu = self.cpus.get()
        try:
            with concurrent.futures.ThreadPoolExecutor(2) as both:
                alone = both.submit(self.run, name, program, cpu)
                observed = both.submit(self.run, name, program, cpu, side, sampling)
                return {"alone": alone.result(), "observed": observed.result()}
        finally:
            self.cpus.put(cpu)

    def rounds(self, name, program, kinds, count):
        """The rounds: of each a pair by its kind, which is a side and a sampling."""
        with concurrent.futures.ThreadPoolExecutor(self.cpus.qsize()) as pool:
            done = [{kind: pool.submit(self.pair, name, program, *kind) for kind in kinds} for _ in range(count)]
            try:
                for i, each in enumerate(done):
                    self.say(f"{name}: round {i + 1} of {count}")
                    done[i] = {kind: pair.result() for kind, pair in each.items()}
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return done

    def entries(self, name, program, sides, samplings, count):
        """An entry for each side at each sampling; records are within those of 100%."""
        kinds = [(side, sampling) for sampling in samplings for side in sides]
        kinds += [("records", "all")] if "vm" in sides and "all" in samplings else []
        rounds = self.rounds(name, program, kinds, count)
        entries = {kind: self.entry(name, kind, rounds) for kind in kinds}
        for sampling in samplings if sides == EPHEMERONS else []:
            plain, pretenured = (entries[side, sampling]["ratios"] for side in EPHEMERONS)
            gains = [one / other for one, other in zip(plain, pretenured)]
            mean, bounds = pairs.interval(gains)
            entries["pretenured", sampling]["gain"] = spread(gains) | {"mean": mean, "interval": bounds}
        for entry in entries.values():
            self.say(f"  {RATES[entry['sampling']]} {entry['mechanism']}, {entry['output']}: program "
                     f"{entry['program_cpu_s']:.2f} s alone, ratio {entry['time_ratio']['median']:.3f}, tool "
                     f"{entry['tool_cpu_s']:.2f} s, lost {entry['lost']}")
            for problem in entry["problems"]:
                self.say(f"  {entry['mechanism']}, {entry['output']}: {problem}")
        records = entries.pop(("records", "all"), None)
        if records:
            entries["vm", "all"]["records"] = records
        return list(entries.values())

    @staticmethod
    def entry(name, kind, rounds):
        side, sampling = kind
        mechanism, output = SIDES[side]
        done = [each[kind] for each in rounds]

        def median(value):
            return statistics.median(value(each["alone"], each["observed"]) for each in done)

        def ratios(figure):
            return [each["observed"][figure] / each["alone"][figure] for each in done]

        mean, bounds = pairs.interval(ratios("cpu"))
        seen = done[-1]["observed"]["seen"]
        objects = sum(row["objects"] for row in seen["classes"])
        allocated = sum(heap["run_bytes"] for heap in seen["heaps"] if heap["profiled"])
        every = sampling == "all" and objects > 0
        return {
            "program": name, "mechanism": mechanism, "sampling": sampling, "output": output, "pairs": len(done),
            "time_ratio": spread(ratios("cpu")), "mean": mean, "interval": bounds, "ratios": ratios("cpu"),
            "memory_ratio": statistics.median(ratios("peak")),
            "program_cpu_s": median(lambda alone, seen: alone["cpu"]),
            "tool_cpu_s": median(lambda alone, seen: seen["tool"]),
            "ns_per_object": median(lambda alone, seen: seen["cpu"] - alone["cpu"]) / objects * 1e9 if every else None,
            "objects": objects, "allocated_bytes": allocated,
            "paper_memory_ratio": 1 + life_programs.PAPER_EPHEMERON * objects / allocated if every else None,
            "file_bytes": done[-1]["observed"]["file_bytes"],
            "lost": sum(each["observed"]["seen"]["lost"] for each in done),
            "problems": sorted({f"round {i + 1}: {problem}" for i, each in enumerate(done)
                                for problem in each["observed"]["problems"] + each["alone"]["problems"]}),
        }


def measure(arguments, programs, samplings, entries):
    bench = Bench(arguments.build, arguments.selftime)

    def add(name, data, count, sides):
        program = life_programs.command(name, life_programs.FULL, arguments.build, data)
        bench.warm(name, program)
        entries.extend(bench.entries(name, program, sides, samplings, count))
        life_programs.write_whole(arguments.output + ".part", json.dumps(entries, indent=1) + "\n")

    for name in programs:
        add(name, arguments.data[0], arguments.n, ("vm",))
    for name in programs if arguments.e else []:
        add(name, arguments.data[-1], arguments.e, EPHEMERONS)
    os.replace(arguments.output + ".part", arguments.output)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("-n", type=int, default=20)
    parser.add_argument("-e", type=int, default=5)
    parser.add_argument("-B", "--build", default="build")
    parser.add_argument("-o", "--output")
    parser.add_argument("--programs", default="")
    parser.add_argument("--samplings", default="")
    parser.add_argument("--selftime", required=True)
    parser.add_argument("data", nargs="+")
    arguments = parser.parse_args()
    arguments.output = arguments.output or os.path.join(arguments.build, "bench", "lifetimes.json")
    try:
        programs = life_programs.chosen(arguments.programs, life_programs.FULL, "programs")
        samplings = life_programs.chosen(arguments.samplings, RATES, "samplings")
    except ValueError as error:
        parser.error(str(error))
    if arguments.n < 1 or arguments.e < 0:
        parser.error("at least one pair; -e 0 leaves ephemerons out")
    entries = []
    status = 0
    try:
        measure(arguments, programs, samplings, entries)
    except (pairs.Failure, RuntimeError) as failure:
        print(f"lifetimes.py: {failure}", file=sys.stderr)
        status = 1
    except KeyboardInterrupt:
        status = 130
    if entries:
        lifetimes_table.show(entries)
        print(f"\n{arguments.output}{'.part' if status else ''} has these figures, and every ratio")
    return status or int(any(entry["problems"] for entry in lifetimes_table.flat(entries)))


if __name__ == "__main__":
    sys.exit(main())

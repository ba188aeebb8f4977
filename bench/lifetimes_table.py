#!/usr/bin/env python3
"""lifetimes_table.py FILE

Prints the tables of what bench/lifetimes.py measured, beside the paper's figures where they are known.
"""
import statistics
import sys

import life_programs
import pairs
from life_programs import RATES

# What Eden is to cost at most.
BOUND_TIME = {"all": 1.25, "1/2": 1.15, "1/100": 1.02, "1/1000": 1.01}  # on average
BOUND_NS = 8  # an object, at 100%
BOUND_MEMORY = 1.5  # of resident memory, at 100%
BOUND_RECORDS = 1.6  # of time, at 100%, with every record shipped to the file


def number(value, form):
    return "-" if value is None else form.format(value)


def spread(values, form="{:.3f}"):
    return "-" if values is None else "..".join(form.format(value) for value in values)


def verdict(value, bound):
    return f"at most {bound}: {'met' if value <= bound else 'NOT MET'}"


def grid(heads, rows, file=None):
    """The first column on the left, the others on the right."""
    widths = [max(len(str(row[i])) for row in [heads, *rows]) for i in range(len(heads))]
    for row in [heads, *rows]:
        print("  " + "  ".join(str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))).rstrip(), file=file)


def costs(entries):
    print("1. CPU time of the program, profiled over alone (vm, added up in the kernel)\n")
    # A column more is a line more here: its head, and its cell of an entry.
    columns = {
        "program": lambda e: e["program"],
        "rate": lambda e: RATES[e["sampling"]],
        "pairs": lambda e: e["pairs"],
        "median": lambda e: f"{e['time_ratio']['median']:.3f}",
        "mean": lambda e: f"{e['mean']:.3f}",
        "95% interval": lambda e: spread(e["interval"]),
        "range": lambda e: spread((e["time_ratio"]["min"], e["time_ratio"]["max"])),
        "ns/object": lambda e: number(e["ns_per_object"], "{:.1f}"),
        "alone": lambda e: f"{e['program_cpu_s']:.2f} s",
        "tool": lambda e: f"{e['tool_cpu_s']:.2f} s",
        "lost": lambda e: e["lost"],
        "paper": lambda e: f"{life_programs.paper_time(e['program'], 'pretenured', e['sampling']):.2f}",
    }
    grid(list(columns), [[cell(entry) for cell in columns.values()] for entry in entries])
    print("\n  median, mean, interval and range are of the pairs' ratios.")
    print("  alone, tool: medians of the CPU time of the program alone, and of the tool. paper: FiLiP's Table 5, pretenured.")


def averages(entries):
    programs = sorted({entry["program"] for entry in entries})
    print(f"\n2. Averages over {', '.join(programs)}\n")
    rows = []
    for sampling, rate in RATES.items():
        ratios = [entry["ratios"] for entry in entries if entry["sampling"] == sampling]
        if len(ratios) != len(programs):
            continue
        # The average of each round: what the programs share is in its spread.
        mean, bounds = pairs.interval([statistics.fmean(each) for each in zip(*ratios)])
        rows.append([rate, f"{mean:.3f}", spread(bounds), verdict(mean, BOUND_TIME[sampling]),
                     f"{life_programs.PAPER_TIME_MEAN[sampling]:.2f}"])
    grid(["rate", "mean", "95% interval", "bound", "paper"], rows)
    if len(programs) < len(life_programs.FULL):
        print("\n  Bounds and the paper's figures are of all five programs.")
    for entry in entries:
        if entry["ns_per_object"] is not None:
            print(f"  {entry['program']} at 100%: {entry['ns_per_object']:.1f} ns an object; "
                  f"{verdict(entry['ns_per_object'], BOUND_NS)}")
    every = [entry for entry in entries if entry["ns_per_object"] is not None]
    if every:
        objects = sum(entry["objects"] for entry in every)
        ns = sum(entry["ns_per_object"] * entry["objects"] for entry in every) / objects
        print(f"  all {objects / 1e6:.0f} million objects together: {ns:.1f} ns an object; {verdict(ns, BOUND_NS)}")


def memory(entries):
    print("\n3. Memory: peak of resident memory, profiled over alone (median of the pairs)\n")
    rows = [[entry["program"], RATES[entry["sampling"]], f"{entry['memory_ratio']:.3f}",
             verdict(entry["memory_ratio"], BOUND_MEMORY) if entry["sampling"] == "all" else "-",
             number(entry["paper_memory_ratio"], "{:.2f}"),
             f"{life_programs.PAPER_MEMORY[entry['program']][1][list(RATES).index(entry['sampling'])]:g}"]
            for entry in entries]
    grid(["program", "rate", "measured", "bound", "formula", "paper"], rows)
    print("\n  formula: the paper estimates baseline + an ephemeron for each sample, over the baseline: all bytes "
          f"allocated. With\n  {life_programs.PAPER_EPHEMERON} bytes an ephemeron, derived from its tables, this is what its "
          "ephemerons would cost this program. paper: its\n  Table 6. The two are of bytes allocated, not of resident "
          "memory.")


def ephemerons(entries):
    print("\n4. Ephemerons, plain and pretenured: CPU time over that of the program alone, and the gain\n")
    plain = {entry["sampling"]: entry for entry in entries if entry["mechanism"] == "ephemeron"}
    rows = []
    for entry in entries:
        if entry["mechanism"] == "pretenured":
            gain, other = entry["gain"], plain[entry["sampling"]]
            rows.append([entry["program"], RATES[entry["sampling"]], entry["pairs"],
                         f"{other['time_ratio']['median']:.3f}", f"{entry['time_ratio']['median']:.3f}",
                         f"{gain['median']:.3f}", f"{gain['mean']:.3f}", spread(gain["interval"]),
                         *(f"{life_programs.paper_time(entry['program'], mechanism, entry['sampling']):g}"
                           for mechanism in ("ephemeron", "pretenured")),
                         f"{other['memory_ratio']:.2f}", f"{entry['memory_ratio']:.2f}"])
    grid(["program", "rate", "rounds", "plain", "pretenured", "gain", "mean gain", "95% interval", "paper: plain",
          "pretenured", "memory plain", "pretenured"], rows)
    print(f"\n  gain: plain over pretenured. The mean of the paper's twenty is {life_programs.PAPER_GAIN}.")


def records(entries):
    print("\n5. CPU time with every record shipped to the file (record --lifetimes=details), over alone\n")
    objects = {entry["program"]: entry["objects"] for entry in entries}
    rows = [[entry["program"], RATES[entry["sampling"]], entry["pairs"], f"{entry['time_ratio']['median']:.3f}",
             f"{entry['mean']:.3f}", spread(entry["interval"]), number(entry["ns_per_object"], "{:.1f}"),
             f"{entry['program_cpu_s']:.2f} s", f"{entry['tool_cpu_s']:.2f} s", entry["lost"],
             f"{entry['file_bytes'] / 1e6:.0f} MB", f"{entry['file_bytes'] / objects[entry['program']]:.1f}"]
            for entry in entries]
    grid(["program", "rate", "pairs", "median", "mean", "95% interval", "ns/object", "alone", "tool", "lost", "file",
          "bytes/object"], rows)
    mean, bounds = pairs.interval([statistics.fmean(each) for each in zip(*(entry["ratios"] for entry in entries))])
    print(f"\n  on average over {', '.join(objects)}: {mean:.3f}, 95% interval {spread(bounds)}; "
          f"{verdict(mean, BOUND_RECORDS)}")


def flat(entries):
    """The entries, and after each the one that it has within it."""
    return [each for entry in entries for each in (entry, entry.get("records")) if each]


def show(entries):
    tracked = [entry for entry in entries if entry["mechanism"] == "vm"]
    shipped = [entry["records"] for entry in entries if "records" in entry]
    others = [entry for entry in entries if entry["mechanism"] != "vm"]
    if tracked:
        costs(tracked)
        averages(tracked)
        memory(tracked)
    if others:
        ephemerons(others)
    if shipped:
        records(shipped)
    for entry in flat(entries):
        for problem in entry["problems"]:
            print(f"\n  WRONG: {entry['program']} {RATES[entry['sampling']]} {entry['mechanism']}"
                  f"{' records' if entry['output'] == 'records' else ''}: {problem}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    show(life_programs.load(sys.argv[1]))

#!/usr/bin/env python3
"""figures.py script PROGRAM NOTES: prints a bpftrace script (PROGRAM in place of $1) that sums up what the probes say.
figures.py check SUMS STATS: compares what it printed (-f json) with EDEN_STATS lines: equal, exactly, heap by heap.

bpftrace 0.17 has arg0 to arg5 only; later arguments are read from the registers that the ELF notes (NOTES: readelf -n)
give."""
import json
import re
import sys

REGISTERS = {"rax": "ax", "rbx": "bx", "rcx": "cx", "rdx": "dx", "rsi": "si", "rdi": "di", "rbp": "bp"}


def operands(notes):
    """Probe name to list of operands."""
    found = re.findall(r"Name: (\S+)\n.*\n\s*Arguments: (.*)", notes)
    return {name: arguments.split() for name, arguments in found}


def script(program, notes):
    table = operands(notes)

    def argument(probe, index):
        if index < 6:
            return f"arg{index}"
        register = re.fullmatch(r"8@%(\w+)", table[probe][index])[1]
        return f'reg("{REGISTERS.get(register, register)}")'

    def clause(probe, *lines):
        # ${n} in a line is argument n.
        body = "\n".join("    " + re.sub(r"\$\{(\d+)\}", lambda m: argument(probe, int(m[1])), line) for line in lines)
        return f"usdt:{program}:eden:{probe}\n{{\n{body}\n}}\n"

    def since(probe, first):
        """Sums the four ..._since arguments; sums of different probes can't share a map."""
        return [f"@{probe}_{key}[arg0] = sum(${{{first + i}}});"
                for i, key in enumerate(("allocated", "remembered", "forgotten", "tenured"))]

    def pretenured(probe, first):
        return [f"@{probe}_pretenured_{key}[arg0] = sum(${{{first + i}}});" for i, key in enumerate(("objects", "bytes"))]

    print(clause("heap__destroy", "@heap_id[arg0] = arg1;", *since("heap__destroy", 2), *pretenured("heap__destroy", 6)))
    print(clause("scavenge__start", "@why[arg0] = arg2;", "@scavenge_causes[arg2] = count();",
                 *since("scavenge__start", 7)))
    print(clause("scavenge__done", "@scavenges[arg0] = count();", "@scavenge_ns[arg0] = sum(arg2);",
                 "@survived[arg0] = sum(arg3 + arg5);", "@done_tenured_bytes[arg0] = sum(arg5);",
                 "@done_tenured_objects[arg0] = sum(${6});",
                 *pretenured("scavenge__done", 10),
                 "if (@why[arg0] == 2) { @before[arg0] = arg2; } else { @scavenge_pause[arg0] = max(arg2); }"))
    print(clause("full__start", "@full_causes[arg0, arg2] = count();", *since("full__start", 6)))
    print(clause("full__done", "@full_collections[arg0] = count();", "@full_ns[arg0] = sum(arg2);",
                 "@freed_bytes[arg0] = sum(${8});", "@full_pause[arg0] = max(@before[arg0] + arg2);"))
    for phase in ("mark", "sweep", "compact", "scavenge__mark", "scavenge__sweep"):
        print(clause(f"{phase}__done", f"@{phase}_ns[arg0] = sum(arg2);"))
    print(clause("tenure", "@tenured_objects[arg0] = count();", "@tenured_bytes[arg0] = sum(arg4);",
                 "@tenure_reasons[arg5] = count();"))
    print(clause("remember", "@remembered[arg0] = count();", "@remember_origins[arg4] = count();"))
    print(clause("forget", "@forgotten[arg0] = count();"))
    print(clause("alloc__large", "@large_objects[arg0] = count();", "@large_bytes[arg0] = sum(arg3);"))
    print(clause("alloc__failed", "@alloc_failures[arg0] = count();"))
    print(clause("mourn", "@mourns[arg0] = count();"))
    print(clause("mourned", "@mourned[arg0] = sum(arg2);"))
    print(clause("segment__map", "@segments_mapped[arg0] = count();"))
    print(clause("segment__unmap", "@segments_unmapped[arg0] = count();"))


def read_maps(file_name):
    maps = {}
    with open(file_name) as file:
        for line in file:
            entry = json.loads(line)
            if entry["type"] == "map":
                maps.update(entry["data"])
    return maps


def check(sums, stats):
    maps = read_maps(sums)
    with open(stats) as file:
        heaps = {heap["heap"]: heap for heap in map(json.loads, file)}
    addresses = {number: address for address, number in maps["@heap_id"].items()}
    assert sorted(addresses) == sorted(heaps), f"heaps {sorted(addresses)} of bpftrace, {sorted(heaps)} of EDEN_STATS"
    compared = {}

    def compare(heap, figure, expected, value):
        assert value == expected, f"heap {heap['name']}: {figure} is {expected}, but the probes say {value}"
        compared[figure] = compared.get(figure, 0) + expected

    for number, heap in heaps.items():
        address = addresses[number]

        def get(name, *more):
            return maps.get("@" + name, {}).get(",".join((address, *more)), 0)

        def since(key):
            return sum(get(f"{probe}_{key}") for probe in ("heap__destroy", "scavenge__start", "full__start"))

        for phase in ("mark", "sweep"):
            compare(heap, f"{phase}_ns", heap[f"{phase}_ns"], get(f"{phase}_ns") + get(f"scavenge__{phase}_ns"))
        for figure in ("scavenges", "full_collections", "scavenge_ns", "full_ns", "compact_ns",
                       "freed_bytes", "tenured_objects", "tenured_bytes", "remembered", "forgotten", "large_objects",
                       "large_bytes", "mourned", "segments_mapped", "segments_unmapped", "alloc_failures"):
            compare(heap, figure, heap[figure], get(figure))
        compare(heap, "gc_ns", heap["gc_ns"], get("scavenge_ns") + get("full_ns"))
        compare(heap, "max_pause_ns", heap["max_pause_ns"], max(get("scavenge_pause"), get("full_pause")))
        compare(heap, "survived_bytes", heap["survived_bytes"], get("survived"))
        compare(heap, "allocated_bytes", heap["allocated_bytes"], since("allocated"))
        for figure in ("pretenured_objects", "pretenured_bytes"):
            compare(heap, figure, heap[figure], get("heap__destroy_" + figure) + get("scavenge__done_" + figure))
        # What the start and done probes add up to, beside the count of the probes an object.
        compare(heap, "mourned by mourn", heap["mourned"], get("mourns"))
        compare(heap, "tenured_objects by done", heap["tenured_objects"],
                get("done_tenured_objects") + since("tenured"))
        compare(heap, "tenured_bytes by done", heap["tenured_bytes"], get("done_tenured_bytes"))
        compare(heap, "remembered_since", heap["remembered"], since("remembered"))
        compare(heap, "forgotten_since", heap["forgotten"], since("forgotten"))
        for cause, (name, count) in enumerate(heap["full_by_cause"].items()):
            compare(heap, f"full_by_cause.{name}", count, get("full_causes", str(cause)))

    # An equality of zeros proves nothing.
    empty = [figure for figure, total in compared.items() if total == 0]
    assert not empty, f"the exercise has none of: {empty}"
    for name, count in (("scavenge_causes", 4), ("tenure_reasons", 7), ("remember_origins", 3)):
        assert len(maps["@" + name]) == count, f"{name}: {maps['@' + name]}, expected {count} different"
    print(f"{len(compared)} figures of {len(heaps)} heaps are equal")


if sys.argv[1] == "script":
    with open(sys.argv[3]) as note_file:
        script(sys.argv[2], note_file.read())
else:
    try:
        check(sys.argv[2], sys.argv[3])
    except AssertionError as difference:
        sys.exit(str(difference))

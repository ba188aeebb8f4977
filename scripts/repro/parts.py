"""Why pretenuring gains what it does: where a program's processor time goes with ephemerons, by perf's samples of the
process, each of the function that it falls into, inlined ones counted as the one that has them."""
import collections
import os
import re
import subprocess

import life_programs
from repro import page

PROGRAM, MEASURING, EPHEMERONS, YOUNG, OLD, REST, OTHER = (
    "the program", "measuring", "ephemerons", "scavenges", "full collections", "allocation, the rest",
    "libraries, kernel")
PARTS = [PROGRAM, MEASURING, EPHEMERONS, YOUNG, OLD, REST, OTHER]
# The first that a source file's path contains.
FILES = {"runtime/profile/baseline/": EPHEMERONS, "runtime/heap/ephemerons": EPHEMERONS, "runtime/profile/": MEASURING,
         "probes/": MEASURING, "runtime/young/": YOUNG, "runtime/old/": OLD, "runtime/": REST, "workloads/": PROGRAM}


def part_of(path):
    return next((part for folder, part in FILES.items() if folder in path), OTHER)


def loaded_parts(program):
    """Of an ELF file: offset, address and size of what is loaded."""
    done = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True)
    return [tuple(int(word, 16) for word in (words[1], words[2], words[4]))
            for words in map(str.split, done.stdout.splitlines()) if words[:1] == ["LOAD"]]


def addresses(samples, program):
    """Of samples: how many fall on each address as linked, and how many elsewhere."""
    done = subprocess.run(["perf", "script", "-i", samples, "--show-mmap-events", "-F", "ip,sym,dso"], capture_output=True,
                          text=True, check=True)
    mapped, found, others = [], collections.Counter(), 0
    loaded = loaded_parts(program)
    for line in done.stdout.splitlines():
        mapping = re.search(r"PERF_RECORD_MMAP.*\[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (?:0x)?([0-9a-f]+) .*: \S+ (.*)", line)
        sample = re.match(r"\s*([0-9a-f]+) .*\((.*)\)$", line)
        if mapping and mapping[4] == program:
            mapped.append(tuple(int(mapping[i], 16) for i in (1, 2, 3)))
        elif sample and not mapping:
            at = int(sample[1], 16)
            offsets = [at - start + offset for start, size, offset in mapped if start <= at < start + size]
            linked = [offsets[0] - offset + address for offset, address, size in loaded
                      if offsets and offset <= offsets[0] < offset + size]
            if linked and sample[2] == program:
                found[linked[0]] += 1
            else:
                others += 1
    return found, others


def outermost(program, places):
    """The source file of the function that each address lies in, not of what is inlined there."""
    done = subprocess.run(["addr2line", "-a", "-i", "-e", program], input="\n".join(map(hex, places)) + "\n",
                          capture_output=True, text=True, check=True)
    files = []
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            files.append("")
        else:
            files[-1] = line
    return files


def shares(lab, command, mechanism):
    """The share of each part, of a run with an ephemeron for each object."""
    program, samples = os.path.realpath(command[0]), os.path.join(lab.data, "parts.data")
    table = os.path.join(lab.data, "parts.json")
    sampled = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "499", "-o", samples, "--", program, *command[1:]]
    life_programs.profile(lab.build, "all", table, sampled, "--json", "--mechanism", mechanism)
    problems = life_programs.problems(life_programs.load(table), "all", mechanism)
    if problems:
        raise RuntimeError(f"{program} with {mechanism}: {'; '.join(problems)}")
    found, others = addresses(samples, program)
    sums = collections.Counter({OTHER: others})
    for count, file in zip(found.values(), outermost(program, found)):
        sums[part_of(file)] += count
    os.remove(samples)
    return {part: sums[part] / sums.total() for part in PARTS}


def table(programs, names):
    """The table, and a sentence on it."""
    rows, data, most = [], [], {}
    for name in names:
        for mechanism in ("ephemeron", "pretenured"):
            found = shares(programs.lab, programs.command(name, False), mechanism)
            rows.append([f"{name}, {'plain' if mechanism == 'ephemeron' else mechanism}",
                         *(page.percent(found[part]) for part in PARTS)])
            data.append([name, mechanism, *found.values()])
            if mechanism == "ephemeron":
                most[name] = found[YOUNG] + found[OLD]
    programs.lab.write("filip-parts", ["program", "mechanism", *PARTS], data)
    worst = max(most, key=most.get)
    return page.table(["", *PARTS], rows), (
        f"Why pretenuring gains less here: it can only save what collections do for young ephemerons. With plain ones, all "
        f"collections together take {page.percent(min(most.values()))} to {page.percent(most[worst])} of the processor time "
        f"here, so without any collection the gain would be {1 / (1 - most[worst]):.2f} at most ({worst}). The rest of what "
        "an ephemeron costs is to make it, to mourn it, and to add up its lifetime, whichever it is. The paper's text has no "
        "profile; its gain of 15.68 on mobidyc means that what pretenuring saves took 94% of the time there.")

"""Lifetimes paper, tables 1 to 5: a data frame at three sizes with the default parameters and in five configurations.
Beside them the tuning paper's last parameters, and what `edenscope tune` proposes.

How the paper divides this among its tables is not known here: programs and data first, then the default run,
configurations, GC time, and the gain."""
from repro import page, paper, tuned, tuning_tables

FINAL = "tuning paper"  # its parameters after all its steps


def options(lab, size, name):
    """None: not known."""
    if name == FINAL:
        return list(tuning_tables.steps(lab, size).values())[tuning_tables.AFTER]
    if name == tuned.NAME:
        made = tuned.proposal(lab, size)
        return made.options if made else None
    return lab.papers(paper.CONFIGURATIONS[name])


NAMES = [*paper.CONFIGURATIONS, FINAL, tuned.NAME]


def run_of(lab, size, name):
    """None: not known."""
    given = options(lab, size, name)
    return lab.frame(size, given) if given else None


def default_run(lab):
    rows = []
    for size, (scavenges, fulls) in paper.COLLECTIONS.items():
        done = run_of(lab, size, "default")
        rows.append([size, scavenges, done["scavenges"], fulls, done["full_collections"],
                     page.seconds(paper.GC_SECONDS.get(size, {}).get("default")), page.seconds(done.gc_seconds)])
    return page.table(["file", "paper: scavenges", "here", "paper: full", "here", "paper: GC, s", "here"], rows)


def of_all(lab, cell):
    """A row a size; `cell` shows one run."""
    def shown(size, name):
        done = run_of(lab, size, name)
        return cell(size, done) if done else "unknown"
    return [[size, *(shown(size, name) for name in NAMES)] for size in paper.SIZES]


def collections(_, done):
    return f"{done['scavenges']:,} + {done['full_collections']}"


def all_gc_seconds(lab, size):
    """Of each configuration of this size, where it is known."""
    runs = {name: run_of(lab, size, name) for name in NAMES}
    return {name: done.gc_seconds for name, done in runs.items() if done}


def by_time(seconds):
    return ", ".join(sorted(seconds, key=seconds.get, reverse=True))


def of_paper(values):
    """A row of the paper, which knows its own configurations only."""
    return ["3.1 GB, paper", *values, *["unknown"] * (len(NAMES) - len(paper.CONFIGURATIONS))]


def run(lab):
    heads = ["file", *NAMES]
    rows = []
    for size in paper.SIZES:
        for name in NAMES:
            done = run_of(lab, size, name)
            if done:
                rows.append([size, name, done.processor, done.gc_seconds, done["scavenges"], done["full_collections"],
                             done["tenured_bytes"], done["survived_bytes"], done.heap_bytes,
                             paper.GC_SECONDS.get(size, {}).get(name)])
    lab.write("configurations", ["file", "configuration", "run_s", "gc_s", "scavenges", "full_collections",
                                 "tenured_bytes", "survived_bytes", "heap_bytes", "paper_gc_s"], rows)
    seconds = {size: all_gc_seconds(lab, size) for size in paper.SIZES}
    shown = [[name, *(page.mebibytes(given[key]) + " (" + page.mebibytes(lab.scaled(given)[key]) + ")"
                      for key in ("eden_size", "grow_headroom", "shrink_threshold")), given["full_gc_ratio"]]
             for name, given in paper.CONFIGURATIONS.items()]
    known = paper.GC_SECONDS["3.1 GB"]
    here = {name: seconds["3.1 GB"][name] for name in known}
    best = max(run_of(lab, size, "default").processor / run_of(lab, size, name).processor
               for size in paper.SIZES for name in paper.CONFIGURATIONS)
    return "\n\n".join([
        "**Table 1: the data sets**\n\n" + page.table(
            ["file", "bytes here", "rows here"],
            [[size, f"{round(value * lab.scale):,}", f"{lab.rows(size):,}"] for size, value in paper.SIZES.items()]),
        "**Table 2: collections and GC time of the default**\n\n" + default_run(lab),
        "**Table 3: the configurations**, and in brackets what they are at this scale\n\n" + page.table(
            ["", "eden", "headroom", "shrink threshold", "full_gc_ratio"], shown),
        "**Table 4: GC time, s**\n\n" + page.table(
            heads, of_all(lab, lambda _, done: page.seconds(done.gc_seconds))
            + [of_paper(page.seconds(known[name]) for name in paper.CONFIGURATIONS)]),
        "**Table 5: how many times less GC time than the default**\n\n" + page.table(
            heads, of_all(lab, lambda size, done: f"{seconds[size]['default'] / done.gc_seconds:.1f}")
            + [of_paper(page.number(known["default"] / known[name], "{:.1f}") for name in known)]),
        "Collections, scavenges + full:\n\n" + page.table(heads, of_all(lab, collections)),
        "The heap at its largest, MB (new space, and the old space that a collection found mapped):\n\n"
        + page.table(heads, of_all(lab, lambda _, done: page.megabytes(done.heap_bytes))),
        f"{FINAL.capitalize()} is its parameters of table 2; {tuned.NAME} is what `edenscope tune` proposes by itself "
        "from a recording of the default run:",
        tuned.proposals(lab),
        *(tuned.verdict(size, seconds[size]) for size in paper.SIZES),
        f"The whole run gained at most {paper.BEST_GAIN} times in the paper; here {best:.1f} times. At 3.1 GB, from "
        f"most GC time to least: {by_time(known)} in the paper, {by_time(here)} here. A larger eden means fewer scans "
        "of the table of rows, and a larger ratio and headroom fewer full collections. There are more scavenges here "
        "than in the paper, for the same size of file, and as many more as there is more data; theirs hardly grow "
        "from the first file to the second. What their rows looked like is not known: these are short, so a file has "
        "many, and what a row allocates does not depend on its length. There are fewer full collections at 3.1 GB: "
        "old space grows by the same factor between two of them, so their number follows the logarithm of the size, "
        "and what made the paper's VM collect 309 times is not known.",
    ])

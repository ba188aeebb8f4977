"""Paper B's Figures 4 and 5: memory and objects by lifetime, of all objects, each with its own lifetime (root)."""
import array
import csv

from repro import page, paper

FILE = "529 MB"


def objects(lab):
    """Bytes, moments of birth and of the end in ns of each object of the load; alive at the end it ends then."""
    recording = lab.record_lifetimes("all", lab.frame_command(FILE), lab.environment(lab.papers(lab.scale_of(FILE))), "--lifetimes=details")
    with lab.read_lifetimes(recording, "--view", "csv") as file:
        rows = csv.reader(file)
        heads = next(rows)
        names = [heads.index(name) for name in ("class", "bytes", "birth_ns", "end_ns")]
        for row in rows:
            name, *figures = (row[at] for at in names)
            if not name.startswith("Image"):
                yield tuple(map(int, figures))


def run(lab):
    bins = paper.FIGURE_4_SECONDS
    sizes, births, ends = (array.array("q") for _ in range(3))  # of millions
    for size, birth, end in objects(lab):
        sizes.append(size)
        births.append(birth)
        ends.append(end)
    start, end = min(births), max(ends)
    sums = [[at, 0, 0] for at in range(bins)]  # bytes, objects
    for size, birth, ended in zip(sizes, births, ends):
        at = sums[min(bins - 1, (ended - birth) * bins // (end - start))]
        at[1] += size
        at[2] += 1
    path = lab.write("lifetimes", ["bin", "bytes", "objects"], sums)
    first, total = sums[0], [sum(row[of] for row in sums) for of in (1, 2)]
    long = [1 - first[of] / total[of - 1] for of in (2, 1)]
    chart = lab.chart("figure-4-5", [
        ("Figure 4: memory by lifetime", ["set ylabel 'bytes'"],
         [f"'{path}' using 1:($2>0?$2:NaN) skip 1 with boxes notitle"]),
        ("Figure 5: objects by lifetime", ["set ylabel 'objects'"],
         [f"'{path}' using 1:($3>0?$3:NaN) skip 1 with boxes notitle"])],
        ["set logscale y", "set yrange [1:*]", "set style fill solid 0.5", f"set xrange [-1:{bins}]",
         f"set xlabel 'lifetime, of {bins} parts of the load'"], height=280)
    return "\n\n".join([
        chart,
        page.table(["beyond lifetime 0; here, beyond the first bin", "paper", "here"],
                   [["of objects", page.percent(paper.LONG_LIVED[0]), page.percent(long[0])],
                    ["of memory", page.percent(paper.LONG_LIVED[1]), page.percent(long[1])]]),
        f"All objects of the load of {FILE}, {total[1]:,} of them, amounts on logarithmic axes as in the paper. A bin "
        f"is one of {bins} equal parts of the load, {100 / bins:.1f}% of it: without the profiler the paper's run takes {bins} s. "
        "The paper's bins are a second; by its axis the profiled run took about 4,500 s, so they are narrower. Narrower ones "
        f"here would show the collector: a death is found by the next scavenge, of which the load has {lab.frame(FILE, lab.papers(lab.scale_of(FILE)))['scavenges']:,}. "
        "Objects that are alive at the end count as dying then. "
        "The shape is the paper's: what parses cells dies at once, and rows and cells live to the end. "
        "More is long-lived here, for our frame allocates less that dies at once. "
        "The paper marks 60% of the memory, at lifetime 0, and 75% of the objects. If the highest label of its Figure 5 is the first bin, it has "
        f"{paper.FIRST_BIN} of {paper.OBJECTS} million objects there; here {first[2] / 1e6:.1f} of {total[1] / 1e6:.1f} "
        "million are."
    ])

"""Paper B's Figures 4 and 5: memory and objects by lifetime, from a profile of all objects (root)."""
import csv
import json
import os
import subprocess

from repro import page, paper

FILE = "529 MB"


def profile(lab, *form):
    """What `edenscope lifetimes` prints of the load of all objects, in this form. Raises RuntimeError if it fails."""
    path = os.path.join(lab.data, "lifetimes-profile")
    command = [lab.tool, "lifetimes", "--sampling", "all", *form, "-o", path, "--", *lab.frame_command(FILE)]
    environment = lab.environment(lab.papers(lab.scale_of(FILE)))
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} gave status {done.returncode}: {done.stderr.strip()}")
    return open(path, newline="", encoding="utf-8")


def run(lab):
    with profile(lab, "--json") as file:
        (heap,) = json.load(file)["heaps"]
    bins = paper.FIGURE_4_SECONDS
    sums = [[at, 0, 0] for at in range(bins)]  # bytes, objects
    with profile(lab, "--view", "csv") as file:
        for row in csv.DictReader(file):
            if row["clock"] == "ns" and not row["class"].startswith("Image"):
                middle = (int(row["lower"]) + int(row["upper"])) / 2
                at = sums[min(bins - 1, int(middle / heap["run_ns"] * bins))]
                at[1] += int(float(row["memory_bytes"]))
                at[2] += int(float(row["objects"]))
    path = lab.write("lifetimes", ["bin", "bytes", "objects"], sums)
    first, total = sums[0], [sum(row[of] for row in sums) for of in (1, 2)]
    long = [1 - first[of] / total[of - 1] for of in (2, 1)]
    chart = lab.chart("figure-4-5", [
        ("Figure 4: memory by lifetime", ["set ylabel 'bytes'"],
         [f"'{path}' using 1:($2>0?$2:NaN) skip 1 with boxes notitle"]),
        ("Figure 5: objects by lifetime", ["set ylabel 'objects'"],
         [f"'{path}' using 1:($3>0?$3:NaN) skip 1 with boxes notitle"])],
        ["set logscale y", "set yrange [1:*]", "set style fill solid 0.5", f"set xrange [-1:{bins}]",
         f"set xlabel 'lifetime, of {bins} parts of the run'"], height=280)
    return "\n\n".join([
        chart,
        page.table(["beyond lifetime 0; here, beyond the first bin", "paper", "here"],
                   [["of objects", page.percent(paper.LONG_LIVED[0]), page.percent(long[0])],
                    ["of memory", page.percent(paper.LONG_LIVED[1]), page.percent(long[1])]]),
        f"All objects of the load of {FILE}, {total[1]:,} of them, amounts on logarithmic axes as in the paper. A bin "
        f"is one of {bins} equal parts of the run, {100 / bins:.1f}% of it: without the profiler the paper's run takes {bins} s. "
        "The paper's bins are a second; by its axis the profiled run took about 4,500 s. Here objects that are "
        "alive at the end count as dying then. There are two humps: what parses cells dies at once, rows and cells live "
        "to the end. The paper marks 60% of the memory, at lifetime 0, and 75% of the objects. It counts the rest as "
        "long-lived, which it does not define in numbers. If the highest label of its Figure 5 is the first bin, it has "
        f"{paper.FIRST_BIN} of {paper.OBJECTS} million objects there; here {first[2] / 1e6:.1f} of {total[1] / 1e6:.1f} "
        "million are."
    ])

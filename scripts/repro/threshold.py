"""Tuning paper, figure 6: the bug of the tenuring threshold, before and after, on a fixed program and seed."""
from repro import page, paper

COMMAND = ["survivors", "--objects", "16000000", "--live", "52000", "--seed", "1"]
EDEN = 16 << 20


def run(lab):
    runs = {bug: lab.run([lab.program("micro"), *COMMAND],
                         paper.VM | {"eden_size": EDEN, "compat.threshold_bug": bug}) for bug in (1, 0)}
    rows = [[bug, line["seq"], line["survivors_after"], line["tenured_bytes"], line["threshold"], line["semispace"]]
            for bug, done in runs.items() for line in done.of("scavenge")]
    path = lab.write("figure-6", ["bug", "seq", "survivors_after", "tenured_bytes", "threshold", "semispace"], rows)
    lab.write("figure-6-sums", ["bug", "tenured_bytes", "tenured_objects", "scavenges"],
              [[bug, done["tenured_bytes"], done["tenured_objects"], done["scavenges"]] for bug, done in runs.items()])
    chart = lab.chart("figure-6", path, ["set xlabel 'scavenge'", "set ylabel 'tenured, MB'", "set yrange [0:*]"], [
        "using ($1==1?$2:NaN):($4/1e6) skip 1 with impulses lw 2 title 'with the bug'",
        "using ($1==0?$2+0.4:NaN):($4/1e6) skip 1 with impulses lw 2 title 'without'"])
    before, after = runs[1]["tenured_bytes"], runs[0]["tenured_bytes"]
    paper_before, paper_after = paper.FIGURE_6
    return "\n\n".join([
        chart,
        page.table(["", "paper: tenured, MB", "here: tenured, MB", "objects", "scavenges that tenured"],
                   [[name, known, page.megabytes(runs[bug]["tenured_bytes"]), f"{runs[bug]['tenured_objects']:,}",
                     sum(line["tenured_bytes"] > 0 for line in runs[bug].of("scavenge"))]
                    for name, bug, known in (("with the bug", 1, paper_before), ("without", 0, paper_after))]
                   + [["less", page.percent(1 - paper_after / paper_before), page.percent(1 - after / before), "",
                       ""]]),
        f"`micro {' '.join(COMMAND)}`, with `compat.threshold_bug=1` and 0. With the bug the threshold lies in the "
        "other semispace: all survivors lie below it, or none, as the semispaces take turns. The paper's program is "
        "another one; what can be compared is the share.",
    ])

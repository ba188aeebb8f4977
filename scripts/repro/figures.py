"""The tuning paper's figures 2 to 6, and a program on which the shrink threshold matters: a program each, under several
values of a parameter."""
from repro import page, paper

MILLISECONDS = {"scavenge_ms": "scavenge_ns", "full_ms": "full_ns", "gc_ms": "gc_ns"}


def cell(done, column):
    """Of a run, what a column of a CSV file holds."""
    if column in MILLISECONDS:
        return done.seconds(done[MILLISECONDS[column]]) * 1e3
    if column == "by_allocation":
        return done["full_by_cause"]["allocation"]
    return done.processor * 1e3 if column == "run_ms" else done[column]


def sweep(lab, name, command, parameter, values, options, columns):
    """The CSV file and its rows: a value of the parameter, then the columns of the run with options(value)."""
    rows = []
    for value in values:
        done = lab.run(command, options(value))
        rows.append([value, *(cell(done, column) for column in columns)])
    return lab.write(name, [parameter, *columns], rows), rows


def eden(lab):
    """Figure 2: collections and their time against the size of eden."""
    path, rows = sweep(lab, "figure-2", [lab.program("micro"), "survivors"], "eden_mib",
                       [1 << shift for shift in range(8)], lambda size: paper.VM | {"eden_size": size << 20},
                       ["scavenges", "full_collections", "scavenge_ms", "survived_bytes", "tenured_bytes"])
    chart = lab.chart("figure-2", path, [
        "set logscale x 2", "set logscale y 10", "set logscale y2 10", "set xlabel 'eden, MiB'",
        "set ylabel 'collections, count'", "set y2label 'ms'", "set y2tics", "set ytics nomirror"], [
            "using 1:2 skip 1 with linespoints title 'scavenges'",
            "using 1:4 skip 1 axes x1y2 with linespoints title 'their time, ms (right)'"])
    return "\n\n".join([
        chart,
        page.table(["eden, MiB", "scavenges", "their time, ms", "copied, MB", "tenured, MB"],
                   [[row[0], row[1], f"{row[3]:.1f}", page.megabytes(row[4]), page.megabytes(row[5])] for row in rows]),
        "`micro survivors`: 4 million objects of 64 bytes, one in ten of which lives until another takes its place. "
        "The paper's values are not known; its shape is: twice the eden, half the collections. Their time does not "
        "quite follow: a scavenge costs what survives it, and that stops growing with eden once all that is alive "
        "fits. Below that, a small eden tenures what would have died a little later.",
    ])


def survivors(lab):
    """Figure 3: tenured data against survivors to keep."""
    command, size = ["survivors", "--objects", "16000000", "--live", "50000"], 16 << 20
    path, rows = sweep(lab, "figure-3", [lab.program("micro"), *command], "survivors_to_keep",
                       [0, 10000, 20000, 30000, 40000, 47000, 50000, 52000, 60000],
                       lambda keep: paper.VM | {"eden_size": size, "survivors_to_keep": keep},
                       ["tenured_bytes", "survived_bytes", "scavenges"])
    chart = lab.chart("figure-3", path, ["set xlabel 'survivors to keep, objects'", "set ylabel 'tenured, MB'",
                                         "set yrange [0:*]"],
                      ["using 1:($2/1e6) skip 1 with linespoints title 'tenured'"])
    full = size // 5 // 64
    return "\n\n".join([
        chart,
        page.table(["survivors to keep", "tenured, MB", "copied, MB"],
                   [[f"{row[0]:,}", page.megabytes(row[1]), page.megabytes(row[2])] for row in rows]),
        f"`micro {' '.join(command)}`, whose survivors of 64 bytes fill the semispace (room for {full:,}) just above "
        "the 90% at which tenuring begins. The paper's values are not known. Its point is: the parameter says how "
        "many survivors are spared when tenuring begins, not when it begins; the more are kept, the less is tenured, "
        f"and the more is copied again. From {full:,} on all are kept, and what does not fit is tenured by overflow: "
        "that is what was reached last, whatever its age, so more is tenured again than just before.",
    ])


def ratio(lab):
    """Figure 4: full collections against the growth that triggers them."""
    path, rows = sweep(lab, "figure-4", [lab.program("micro"), "growth"], "full_gc_ratio",
                       ["0.1", "0.2", "0.33", "0.5", "1", "2", "4", "8", "inf"],
                       lambda ratio: paper.VM | {"full_gc_ratio": ratio},
                       ["full_collections", "scavenges", "full_ms", "freed_bytes", "old_used"])
    chart = lab.chart("figure-4", path, ["set xlabel 'full_gc_ratio'", "set ylabel 'full collections'",
                                         "set yrange [0:*]", "set style fill solid 0.5", "set boxwidth 0.6"],
                      ["using 0:2:xtic(1) skip 1 with boxes title 'full collections'"])
    return "\n\n".join([
        chart,
        page.table(["ratio", "full collections", "their time, ms", "freed, MB"],
                   [[row[0], row[1], f"{row[3]:.1f}", page.megabytes(row[4])] for row in rows]),
        "`micro growth`: 2 million objects of 64 bytes, all of which live. The paper's values are not known; its shape "
        "is: the larger the ratio, the fewer full collections, about log(size) / log(1 + ratio) of them, none at "
        "infinity. They free nothing here: all of their time is lost.",
    ])


def headroom(lab):
    """Figure 5: 100 objects of 24 MB against the headroom, in MiB at scale 1."""
    size = round(paper.LARGE_SIZE * lab.scale) // 8 * 8
    command = [lab.program("micro"), "large", "--objects", str(paper.LARGE_OBJECTS), "--live",
               str(paper.LARGE_OBJECTS), "--size", str(size)]
    path, rows = sweep(lab, "figure-5", command, "headroom_mib_at_scale_1",
                       [16, 24, 32, 64, 128, 256, 512, 1024, 2048, 4096],
                       lambda mib: lab.papers({"grow_headroom": mib * paper.MIB, "full_gc_ratio": "inf"}),
                       ["full_collections", "by_allocation", "segments_mapped", "full_ms"])
    chart = lab.chart("figure-5", path, ["set logscale x 2", "set xlabel 'headroom, MiB (at scale 1)'",
                                         "set ylabel 'full collections'", "set yrange [0:*]"],
                      ["using 1:2 skip 1 with linespoints title 'full collections'"])
    return "\n\n".join([
        chart,
        page.table(["headroom, MiB", "full collections", "segments mapped"], [row[:2] + row[3:4] for row in rows]),
        "`micro large`, all objects kept; sizes of objects and headroom are scaled alike, and shown as they would be "
        "at scale 1. The paper's values are not known; its shape is: while the headroom holds no more than one "
        "object, each allocation finds no room and collects in full, in vain; above, there is one such collection "
        "for each headroom, and none where all fit into the first.",
    ])


def threshold(lab):
    """Figure 6: the bug of the tenuring threshold, before and after, on a fixed program and seed."""
    command = ["survivors", "--objects", "16000000", "--live", "52000", "--seed", "1"]
    runs = {bug: lab.run([lab.program("micro"), *command],
                         paper.VM | {"eden_size": 16 << 20, "compat.threshold_bug": bug}) for bug in (1, 0)}
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
        f"`micro {' '.join(command)}`, with `compat.threshold_bug=1` and 0. With the bug the threshold lies in the "
        "other semispace: all survivors lie below it, or none, as the semispaces take turns. The paper's program is "
        "another one; what can be compared is the share.",
    ])


def shrink(lab):
    """What the authors looked for and did not find: a program on which the shrink threshold matters."""
    path, rows = sweep(lab, "shrink", [lab.program("patterns"), "heap.thrash"], "shrink_threshold",
                       ["0", "8M", "16M", "24M", "28M", "32M", "64M", "none"],
                       lambda threshold: paper.VM | {"shrink_threshold": threshold},
                       ["segments_mapped", "segments_unmapped", "full_collections", "old_capacity", "gc_ms", "run_ms"])
    chart = lab.chart("shrink", path, ["set xlabel 'shrink_threshold'", "set ylabel 'segments returned'",
                                       "set yrange [0:*]", "set y2range [0:*]", "set y2label 'GC, ms'", "set y2tics",
                                       "set ytics nomirror", "set style fill solid 0.5", "set boxwidth 0.6"],
                      ["using 0:3:xtic(1) skip 1 with boxes title 'segments returned to the system'",
                       "using 0:6 skip 1 axes x1y2 with linespoints title 'GC, ms (right)'"])
    return "\n\n".join([
        chart,
        page.table(["shrink_threshold", "segments mapped", "returned", "full collections", "old space at the end, MB",
                    "GC, ms", "run, ms"],
                   [[*row[:4], page.megabytes(row[4]), f"{row[5]:.0f}", f"{row[6]:.0f}"] for row in rows]),
        "`patterns heap.thrash` draws a picture of 24 MB for each frame, and drops the last one. The full "
        "collection that makes room for the new one frees the segment of the old one. While the threshold is below "
        "what is free then, that segment is returned to the system and one like it is mapped at once, every page of "
        "which is faulted in anew; above, the memory is used again. So the threshold matters to a program whose "
        "large objects come one by one and fill segments of their own: a segment is returned only if it is wholly "
        "empty. That is rare, and may be why the authors found no effect.",
    ])

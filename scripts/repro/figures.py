"""Paper A's Figures 2 to 6, and a program on which the shrink threshold matters: programs under several values of a
parameter."""
from repro import page, paper

MILLISECONDS = {"scavenge_ms": "scavenge_ns", "full_ms": "full_ns", "gc_ms": "gc_ns"}
FRAME = "529 MB"  # the data frame of these figures, at a tenth of the scale


def cell(done, column):
    """Of a run, what a column of a CSV file holds."""
    if column in MILLISECONDS:
        return done.seconds(done[MILLISECONDS[column]]) * 1e3
    if column == "by_allocation":
        return done["full_by_cause"]["allocation"]
    return done.processor * 1e3 if column == "run_ms" else done[column]


def sweep(lab, name, run, parameter, values, columns):
    """The CSV file and its rows: a value of the parameter, then the columns of run(value)."""
    rows = [[value, *(cell(run(value), column) for column in columns)] for value in values]
    return lab.write(name, [parameter, *columns], rows), rows


def micro(lab, *arguments):
    return [lab.program("micro"), *arguments]


def eden(lab):
    """Figure 2: collections and their time against the size of eden, of two programs."""
    sizes = [1 << shift for shift in range(8)]
    scale = lab.tenth.scale
    programs = {
        "figure-2-frame": (f"the data frame of {FRAME}", lambda mib: lab.tenth.frame(
            FRAME, lab.papers(scale, {"eden_size": mib * paper.MIB}))),
        "figure-2-survivors": ("micro survivors", lambda mib: lab.run(
            micro(lab, "survivors"), paper.VM | {"eden_size": mib * paper.MIB})),
    }
    parts, panels, frame = [], {"passes": [], "times": []}, []
    for name, (title, run) in programs.items():
        path, rows = sweep(lab, name, run, "eden_mib", sizes,
                           ["scavenges", "full_collections", "scavenge_ms", "survived_bytes"])
        frame = rows if name == "figure-2-frame" else frame
        panels["passes"].append(f"'{path}' using 1:($2+$3) skip 1 with linespoints title '{title}'")
        panels["times"].append(f"'{path}' using 1:4 skip 1 with linespoints title '{title}'")
        parts.append(page.table([f"eden, MiB: {title}", *map(str, sizes)], [
            ["scavenges", *(row[1] for row in rows)], ["full collections", *(row[2] for row in rows)],
            ["time in scavenges, ms", *(f"{row[3]:.0f}" for row in rows)],
            ["copied, MB", *(page.megabytes(row[4]) for row in rows)]]))
    times = [row[3] for row in frame]
    chart = lab.chart("figure-2", [
        ("Passes: scavenges and full collections", ["set ylabel 'count'"], panels["passes"]),
        ("Time in scavenges", ["set ylabel 'ms'"], panels["times"])],
        ["set logscale x 2", "set logscale y 10", "set xlabel 'eden, MiB (of the data frame: at scale 1)'"], height=300)
    return "\n\n".join([
        chart, *parts,
        "The paper's values are not in its text; its shape is: the number of passes falls towards a least value, which "
        "depends on how much the application allocates and on its full collections; the time in scavenges has no clear "
        "correlation with eden, for it depends on survivors and on the remembered set, too. Passes here: the same shape. "
        "The scavenges of `micro survivors` halve while eden doubles; those of the frame nearly do, until those of full "
        "collections are most of them. Time here: of `micro survivors` it falls with eden, for most dies before it is "
        f"copied. Of the frame (at a tenth of the scale) it is between {min(times):.0f} and {max(times):.0f} ms, with about as "
        "much copied at each size, for what is read survives whatever eden is.",
    ])


def survivors(lab):
    """Figure 3: tenured data against survivors to keep, of two programs."""
    size = 16 * paper.MIB
    room = size // 5 // 64  # survivors of 64 bytes that a semispace holds
    keep = [0, 10000, 20000, 30000, 40000, 47000, 50000, 52000, 60000]
    command = micro(lab, "survivors", "--objects", "16000000", "--live", "50000")
    scale = lab.tenth.scale
    # The parameter is a number of objects: it is scaled with the semispace.
    programs = {
        "figure-3-frame": (f"The data frame of {FRAME}", lambda number: lab.tenth.frame(
            FRAME, lab.papers(scale, {"eden_size": size}) | {"survivors_to_keep": round(number * scale)})),
        "figure-3-survivors": (" ".join(command[1:]), lambda number: lab.run(
            command, paper.VM | {"eden_size": size, "survivors_to_keep": number})),
    }
    panels, rows_of = [], {}
    for name, (title, run) in programs.items():
        path, rows_of[name] = sweep(lab, name, run, "survivors_to_keep", keep,
                                    ["tenured_bytes", "survived_bytes", "scavenges"])
        panels.append((title, [], [f"'{path}' using 1:($2/1e6) skip 1 with linespoints title 'tenured, MB'"]))
    chart = lab.chart("figure-3", panels, ["set xlabel 'survivors to keep, objects'", "set ylabel 'MB'",
                                           "set yrange [0:*]"], height=280)
    return "\n\n".join([
        chart,
        page.table(["survivors to keep", *(f"{number:,}" for number in keep)],
                   [[f"tenured, MB: {title}", *(page.megabytes(row[1]) for row in rows_of[name])]
                    for name, (title, _) in programs.items()]),
        "Above (at a tenth of the scale), a program that uses enough data for long: the parameter makes no big "
        "difference, for all is tenured anyway. Below, one whose survivors of 64 bytes fill the semispace (room for "
        f"{room:,}) just above the 90% at which tenuring begins: the more are kept, the less is tenured. The last "
        "point of each keeps all survivors: below, more is tenured again, by overflow, namely what was reached last, "
        "whatever its age; above, nothing changes. The paper's values are not in its text; its shapes are: in one "
        "program the parameter makes no big difference, as here; in the other there is a critical value at which "
        "long-lived objects stay in new space and more is tenured. Here that is so at the last point only: up to the "
        "room of the semispace the direction is the opposite. The paper's last points keep all survivors, too: there "
        "only new survivors from eden are tenured.",
    ])


def ratio(lab):
    """Figure 4: full collections against the growth that triggers them."""
    scale = lab.tenth.scale
    path, rows = sweep(lab, "figure-4", lambda value: lab.tenth.frame(FRAME, lab.papers(scale, {"full_gc_ratio": value})),
                       "full_gc_ratio", ["0.1", "0.2", "0.33", "0.5", "1", "2", "4", "8", "inf"],
                       ["full_collections", "by_allocation", "scavenges", "full_ms", "freed_bytes"])
    chart = lab.chart("figure-4", [(
        "Full collections", ["set xlabel 'full_gc_ratio'", "set ylabel 'count'", "set yrange [0:*]",
                             "set style data histograms", "set style histogram rowstacked",
                             "set style fill solid 0.5", "set boxwidth 0.6"],
        [f"'{path}' using ($2-$3):xtic(1) skip 1 title 'for growth'", f"'{path}' using 3 skip 1 title 'others'"])])
    return "\n\n".join([
        chart,
        page.table(["full_gc_ratio", *(row[0] for row in rows)],
                   [["full collections", *(row[1] for row in rows)],
                    ["of them for an allocation", *(row[2] for row in rows)],
                    ["their time, ms", *(f"{row[4]:.0f}" for row in rows)]]),
        f"The data frame of {FRAME}, at a tenth of the scale, its image included. The paper's values are not in its "
        "text; its shape is: the larger the ratio, the fewer full collections, only in applications that use memory "
        "intensively and whose objects end in old space. The same shape here, down to those for an allocation, which "
        "hardly depend on it. One is asked for, once the image is made; the chart has it among those for "
        "growth.",
    ])


def headroom(lab):
    """Figure 5: 100 Arrays of 24 MB against the headroom, in MiB at scale 1."""
    size = round(paper.LARGE_SIZE * lab.scale) // 8 * 8
    number = str(paper.LARGE_OBJECTS)
    command = micro(lab, "large", "--objects", number, "--live", number, "--size", str(size))
    path, rows = sweep(lab, "figure-5", lambda mib: lab.run(command, lab.papers(
        lab.scale, {"grow_headroom": mib * paper.MIB, "full_gc_ratio": "inf"})), "headroom_mib_at_scale_1",
        [16, 24, 32, 64, 128, 256, 512, 1024, 2048, 4096],
        ["full_collections", "by_allocation", "segments_mapped", "run_ms"])
    chart = lab.chart("figure-5", [(
        "100 Arrays of 24 MB", ["set logscale x 2", "set xlabel 'headroom, MiB (at scale 1)'", "set ylabel 'count'",
                                "set yrange [0:*]", "set y2range [0:*]", "set y2label 's'", "set y2tics",
                                "set ytics nomirror"],
        [f"'{path}' using 1:2 skip 1 with linespoints title 'full collections'",
         f"'{path}' using 1:($5/1e3) skip 1 axes x1y2 with linespoints title 'the run, s (right)'"])])
    return "\n\n".join([
        chart,
        page.table(["headroom, MiB", *(f"{row[0]}" for row in rows)],
                   [["full collections", *(row[1] for row in rows)],
                    ["segments mapped", *(row[3] for row in rows)],
                    ["the run, s", *(page.seconds(row[4] / 1e3) for row in rows)]]),
        "`micro large`, Arrays of references, all of them kept; they and the headroom are scaled alike, and shown as "
        "they would be at scale 1; with `full_gc_ratio=inf`, our choice, so that none comes for growth. The same shape: at a headroom of 16 MB each allocation is a full "
        "collection, as in the paper (here as long as the headroom holds no more than one object), and then their "
        "number falls in proportion to how many fit. The last headroom ran "
        f"{paper.FIGURE_5_FASTER} times faster than the first there, {rows[0][4] / rows[-1][4]:.1f} times here: most "
        "of what is left is clearing the Arrays' pages. The kind of object and all headrooms but the first, 16 MB, "
        "are not in the paper's text.",
    ])


def threshold(lab):
    """Figure 6: the bug of the tenuring threshold, before and after, on a fixed program and seed."""
    command = micro(lab, "survivors", "--objects", "5500000", "--live", "60000", "--one-in", "80", "--seed", "1")
    runs = {name: lab.run(command, paper.VM | {"eden_size": paper.FIGURE_6_SEMISPACE * 5, "compat.threshold_bug": bug})
            for name, bug in (("before", 1), ("after", 0))}
    panels, table = [], []
    for name, done in runs.items():
        path = lab.write(f"figure-6-{name}", ["scavenge", "survivors", "threshold", "tenured_bytes", "semispace"], [
            [at, line["survivors_after"], line["threshold"], line["tenured_bytes"], line["semispace"]]
            for at, line in enumerate(done.scavenges, 1)])
        panels.append((f"{name.capitalize()} the fix", [], [
            f"'{path}' using 1:($2/1024) skip 1 with lines lc rgb 'black' title 'survivors'",
            f"'{path}' using 1:($3>0?$3/1024:NaN) skip 1 with points pt 7 ps 0.6 title 'threshold'",
            f"'{path}' using 1:($5/1024) skip 1 with lines lc rgb 'red' title 'semispace'"]))
        tenured = [line["tenured_bytes"] for line in done.scavenges if line["tenured_bytes"]]
        table.append([name, page.megabytes(paper.FIGURE_6[name] * 1e6), page.megabytes(done["tenured_bytes"]),
                      len(tenured), page.number(sorted(tenured)[len(tenured) // 2] / 1024)])
    chart = lab.chart("figure-6", panels, ["set xlabel 'scavenge'", "set ylabel 'KiB'", "set yrange [0:2640]"],
                      height=280)
    return "\n\n".join([
        chart,
        page.table(["the fix", "paper: tenured, MB", "here", "scavenges that tenured", "median of them, KiB"], table),
        f"`{' '.join(['micro', *command[1:]])}` with semispaces of 1.25 MiB, for 128 KB tenured each time are a tenth of "
        "that, `compat.threshold_bug=1` before and 0 after. Before, the threshold lies in the other semispace: all "
        "survivors lie below it, or none, as the semispaces take turns. After, more scavenges tenure, much less each: "
        "128 KB in the paper. What program the paper's figure shows is not in its text. (The first to tenure takes "
        "the program's table along.)",
    ])


def shrink(lab):
    """What the authors did not find: a program on which the shrink threshold matters."""
    path, rows = sweep(lab, "shrink", lambda value: lab.run(
        [lab.program("patterns"), "heap.thrash"], paper.VM | {"shrink_threshold": value}), "shrink_threshold",
        ["0", "8M", "16M", "24M", "28M", "32M", "64M", "none"],
        ["segments_mapped", "segments_unmapped", "full_collections", "old_capacity", "gc_ms", "run_ms"])
    chart = lab.chart("shrink", [(
        "Segments returned", ["set xlabel 'shrink_threshold'", "set ylabel 'count'", "set yrange [0:*]",
                              "set y2range [0:*]", "set y2label 'ms'", "set y2tics", "set ytics nomirror",
                              "set style fill solid 0.5", "set boxwidth 0.6"],
        [f"'{path}' using 0:3:xtic(1) skip 1 with boxes title 'segments returned to the system'",
         f"'{path}' using 0:6 skip 1 axes x1y2 with linespoints title 'GC, ms (right)'"])])
    return "\n\n".join([
        chart,
        page.table(["shrink_threshold", "segments mapped", "returned", "full collections", "old space at the end, MB",
                    "GC, ms", "run, ms"],
                   [[*row[:4], page.megabytes(row[4]), f"{row[5]:.0f}", f"{row[6]:.0f}"] for row in rows]),
        "`patterns heap.thrash` draws a picture of 24 MB for each frame, and drops the last one. The full collection "
        "that makes room for the new one frees the segment of the old one. While the threshold is below what is free "
        "then, that segment is returned to the system and one like it is mapped at once, and every page of it is "
        "faulted in anew; above, the memory is used again. So the threshold matters to a program whose large objects "
        "come one by one and fill segments of their own: a segment is returned only if it is wholly empty. That is "
        "rare, and may be why the authors found no effect.",
    ])

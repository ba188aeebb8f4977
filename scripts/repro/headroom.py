"""Tuning paper, figure 5: 100 objects of 24 MB against the headroom."""
from repro import page, paper

HEADROOMS = [16, 24, 32, 64, 128, 256, 512, 1024, 2048, 4096]  # MiB at scale 1


def run(lab):
    size = round(paper.LARGE_SIZE * lab.scale) // 8 * 8
    command = [lab.program("micro"), "large", "--objects", str(paper.LARGE_OBJECTS), "--live",
               str(paper.LARGE_OBJECTS), "--size", str(size)]
    rows = []
    for headroom in HEADROOMS:
        done = lab.run(command, lab.papers({"grow_headroom": headroom * paper.MIB, "full_gc_ratio": "inf"}))
        rows.append([headroom, done["full_collections"], done["full_by_cause"]["allocation"],
                     done["segments_mapped"], done.seconds(done["full_ns"]) * 1e3])
    path = lab.write("figure-5", ["headroom_mib_at_scale_1", "full_collections", "by_allocation", "segments_mapped",
                                  "full_ms"], rows)
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

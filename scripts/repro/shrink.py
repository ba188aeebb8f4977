"""What the tuning paper's authors looked for and did not find: a program on which the shrink threshold matters."""
from repro import page, paper

COMMAND = ["heap.thrash"]
THRESHOLDS = ["0", "8M", "16M", "24M", "28M", "32M", "64M", "none"]


def run(lab):
    rows = []
    for threshold in THRESHOLDS:
        done = lab.run([lab.program("patterns"), *COMMAND], paper.VM | {"shrink_threshold": threshold})
        rows.append([threshold, done["segments_mapped"], done["segments_unmapped"], done["full_collections"],
                     done["old_capacity"], done.gc_seconds * 1e3, done.processor * 1e3])
    path = lab.write("shrink", ["shrink_threshold", "segments_mapped", "segments_unmapped", "full_collections",
                                "old_capacity", "gc_ms", "run_ms"], rows)
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
        f"`patterns {' '.join(COMMAND)}` draws a picture of 24 MB for each frame, and drops the last one. The full "
        "collection that makes room for the new one frees the segment of the old one. While the threshold is below "
        "what is free then, that segment is returned to the system and one like it is mapped at once, every page of "
        "which is faulted in anew; above, the memory is used again. So the threshold matters to a program whose "
        "large objects come one by one and fill segments of their own: a segment is returned only if it is wholly "
        "empty. That is rare, and may be why the authors found no effect.",
    ])

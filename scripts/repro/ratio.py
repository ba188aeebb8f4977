"""Tuning paper, figure 4: full collections against the growth that triggers them."""
from repro import page, paper

RATIOS = ["0.1", "0.2", "0.33", "0.5", "1", "2", "4", "8", "inf"]
COMMAND = ["growth"]


def run(lab):
    rows = []
    for ratio in RATIOS:
        done = lab.run([lab.program("micro"), *COMMAND], paper.VM | {"full_gc_ratio": ratio})
        rows.append([ratio, done["full_collections"], done["scavenges"], done.seconds(done["full_ns"]) * 1e3,
                     done["freed_bytes"], done["old_used"]])
    path = lab.write("figure-4", ["full_gc_ratio", "full_collections", "scavenges", "full_ms", "freed_bytes",
                                  "old_used"], rows)
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

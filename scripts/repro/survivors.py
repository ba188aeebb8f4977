"""Tuning paper, figure 3: tenured data against survivors to keep."""
from repro import page, paper

KEEP = [0, 10000, 20000, 30000, 40000, 47000, 50000, 52000, 60000]
COMMAND = ["survivors", "--objects", "16000000", "--live", "50000"]
EDEN = 16 << 20


def run(lab):
    rows = []
    for keep in KEEP:
        done = lab.run([lab.program("micro"), *COMMAND],
                       paper.VM | {"eden_size": EDEN, "survivors_to_keep": keep})
        rows.append([keep, done["tenured_bytes"], done["survived_bytes"], done["scavenges"]])
    path = lab.write("figure-3", ["survivors_to_keep", "tenured_bytes", "survived_bytes", "scavenges"], rows)
    chart = lab.chart("figure-3", path, ["set xlabel 'survivors to keep, objects'", "set ylabel 'tenured, MB'",
                                         "set yrange [0:*]"],
                      ["using 1:($2/1e6) skip 1 with linespoints title 'tenured'"])
    full = EDEN // 5 // 64
    return "\n\n".join([
        chart,
        page.table(["survivors to keep", "tenured, MB", "copied, MB"],
                   [[f"{row[0]:,}", page.megabytes(row[1]), page.megabytes(row[2])] for row in rows]),
        f"`micro {' '.join(COMMAND)}`, whose survivors of 64 bytes fill the semispace (room for {full:,}) just above "
        "the 90% at which tenuring begins. The paper's values are not known. Its point is: the parameter says how "
        "many survivors are spared when tenuring begins, not when it begins; the more are kept, the less is tenured, "
        f"and the more is copied again. From {full:,} on all are kept, and what does not fit is tenured by overflow: "
        "that is what was reached last, whatever its age, so more is tenured again than just before.",
    ])

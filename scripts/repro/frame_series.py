"""Tuning paper, figures 7 and 8: a data frame, collection by collection, before and after."""
from repro import page, tuning_tables

SIZE = "1.6 GB"
MOST_POINTS = 300  # of collections, in a figure
FIELDS = ["seq", "kind", "cause", "survivors_after", "tenured_bytes", "threshold", "remembered_after", "remembered_ns",
          "duration_ns", "old_used"]


def series(lab, name, title, options):
    done = lab.frame(SIZE, options)
    path = lab.write(name, FIELDS, [[line.get(field) for field in FIELDS] for line in done.log])
    thin = f"every {max(1, len(done.log) // MOST_POINTS)}"
    plots = [f"using 1:(stringcolumn(2) eq 'scavenge' ? $9/1e6 : NaN) skip 1 {thin} axes x1y2 with points pt 7 ps 0.3 "
             "title 'a scavenge, ms (right)'",
             f"using 1:($10/1e6) skip 1 {thin} with lines lc rgb 'gray' title 'old space, MB (left)'"]
    if done.of("full"):
        plots.append("using 1:(stringcolumn(2) eq 'full' ? $10/1e6 : NaN) skip 1 with impulses lw 2 "
                     "title 'at a full collection'")
    chart = lab.chart(name, path, [
        f"set title '{title}'", "set xlabel 'collection'", "set ylabel 'old space, MB'",
        "set y2label 'ms'", "set y2tics", "set ytics nomirror", "set yrange [0:*]", "set y2range [0:*]"], plots)
    scavenges = done.of("scavenge")
    tenth = max(1, len(scavenges) // 10)
    mean = [done.seconds(sum(line["duration_ns"] for line in part)) * 1e6 / len(part)
            for part in (scavenges[:tenth], scavenges[-tenth:])]
    return chart, [title, len(scavenges), done["full_collections"],
                   *(page.number(done["full_by_cause"][cause]) for cause in ("ratio", "allocation")),
                   *(page.number(value) for value in mean)]


def run(lab):
    steps = list(tuning_tables.steps(lab, SIZE).values())
    parts = [series(lab, "figure-7", "before: default parameters", steps[tuning_tables.BEFORE]),
             series(lab, "figure-8", "after: the parameters of table 2", steps[tuning_tables.AFTER]),
             series(lab, "figure-8-cards", "after: a remembered set of cards", steps[tuning_tables.CARDS])]
    return "\n\n".join([
        *(chart for chart, _ in parts),
        page.table(["", "scavenges", "full", "for growth", "for an allocation", "a scavenge at first, us",
                    "at last, us"], [row for _, row in parts]),
        f"The file of {SIZE}. The size of the paper's figures, and their values, are not known. As there, full "
        "collections have two causes: growth, at ever larger steps, and an allocation, each time the table of rows "
        "doubles or a column is made, because the headroom is smaller. Scavenges take longer as the table grows. The "
        "third figure is not the paper's: after the first step of table 2, but with cards, they do not.",
    ])

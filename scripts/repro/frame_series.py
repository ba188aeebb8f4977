"""Paper A's Figures 7 and 8: a data frame, collection by collection, before and after its steps."""
from repro import page, paper, settings

FILE = "1.6 GB"
FACTORS = [0.93, 0.96, 1, 1.03, 1.06]  # of the file's rows


def together(done):
    """For each group of full collections with no scavenge between but their own: the number of scavenges before it, how
    many they are, and whether the frame was being built."""
    groups, scavenges = [], 0
    for line in done.log:
        if line["kind"] == "scavenge":
            scavenges += line["cause"] != "full"
        elif line["kind"] == "full":
            building = line["time_ns"] > done.read_ns
            if groups and groups[-1][0] == scavenges and groups[-1][2] == building:
                groups[-1][1] += 1
            else:
                groups.append([scavenges, 1, building])
    return groups


def point_p(done):
    return sum(line["cause"] != "full" and line["time_ns"] < done.read_ns for line in done.scavenges)


def vertical(done):
    return [f"set arrow 1 from {point_p(done)}, graph 0 to {point_p(done)}, graph 1 nohead lc rgb 'blue'",
            f"set label 1 'P' at {point_p(done)}, graph 0.95 offset 0.5 textcolor rgb 'blue'"]


def figure_7(lab):
    runs = {"Before step 1": settings.run(lab, FILE, settings.DEFAULT),
            "After step 1": settings.run(lab, FILE, settings.STEP_1)}
    panels, table, most_together = [], [], []
    for number, (title, done) in enumerate(runs.items()):
        groups, total, rows = together(done), 0, [[0, 0, 0]]
        for scavenges, count, _ in groups:
            total += count
            rows.append([scavenges, total, count])
        rows.append([sum(line["cause"] != "full" for line in done.scavenges), total, 0])
        path = lab.write(f"figure-7-{number + 1}", ["scavenges", "full", "together"], rows)
        panels.append((title, vertical(done), [
            f"'{path}' using 1:2 skip 1 with steps lc rgb 'black' title 'full collections so far'",
            f"'{path}' using 1:($3>1?$2:NaN):3 skip 1 with labels textcolor rgb 'red' offset 1,-0.6 notitle"]))
        before = [count for _, count, building in groups if not building]
        after = [count for _, count, building in groups if building]
        most_together.append((max(before, default=0), max(after, default=0)))
        table.append([title, len(done.scavenges), sum(before), max(before, default=0), sum(after),
                      max(after, default=0), done.caused("ratio"), done.caused("allocation")])
    most = max(len(done.fulls) for done in runs.values())
    chart = lab.chart("figure-7", panels, ["set xlabel 'scavenges'", "set ylabel 'full collections'",
                                           f"set yrange [0:{most + 3}]"], height=300)
    return "\n\n".join([
        chart,
        page.table(["", "scavenges", "full before P", "most together", "after P", "most together", "for growth",
                    "for an allocation"], table),
        f"The file of {FILE}; which one the paper's figure shows is not in its text. Red: how many full collections "
        "came together, with no other scavenge between. P: the file is read, and the frame is built from now on. In "
        "the paper they come periodically, one by one, before P, and together after it. Here, by default, "
        f"{most_together[0][0]} at most come together before P, where tenured data makes old space grow, and "
        f"{most_together[0][1]} after it, where the frame's structures are born old and find no room.",
    ])


def overheads(step_1, done):
    """Scavenges of building that scan the remembered set for half as long as those after step 1 do on average."""
    def scans(run):
        return [line["remembered_ns"] for line in run.scavenges if line["time_ns"] > run.read_ns]
    half = sum(scans(step_1)) / len(scans(step_1)) / 2
    return sum(ns > half for ns in scans(done))


def figure_8(lab):
    found, table, outcomes, share = [], [], [], 0
    for factor in FACTORS:
        runs = [lab.frame(FILE, settings.options(lab, FILE, setting), factor)
                for setting in (settings.STEP_1, settings.AUTHORS)]
        reading, building, *cured = (done.scavenge_us(after) for done in runs for after in (False, True))
        remembered = [max((line["remembered_after"] for line in done.scavenges if line["time_ns"] > done.read_ns),
                          default=0) for done in runs]
        found.append([lab.rows(FILE, factor), reading, building, *cured, *remembered])
        table.append([f"{lab.rows(FILE, factor):,}", page.number(reading), page.number(building),
                      f"{building / reading:.1f}x", *map(page.number, cured), f"{building / cured[1]:.1f}x",
                      overheads(*runs), *remembered])
        share = max(share, sum(line["duration_ns"] for line in runs[0].scavenges
                               if line["time_ns"] > runs[0].read_ns) / 1e9 / runs[0].wall)
        outcomes.append((remembered[0], building / cured[1], factor, runs))
    lab.write("figure-8-rows", ["rows", "reading_us", "building_us", "authors_reading_us", "authors_building_us",
                                "remembered", "authors_remembered"], found)
    drawn = [max(outcomes, key=lambda outcome: outcome[:2]), min(outcomes, key=lambda outcome: outcome[:2])]
    panels = []
    for _, _, factor, runs in drawn:
        for title, done in zip(("after step 1", "after step 3: all survivors kept"), runs):
            path = lab.write(f"figure-8-{len(panels) + 1}", ["scavenge", "ms", "remembered"], [
                [at, line["duration_ns"] / 1e6, line["remembered_after"]] for at, line in enumerate(done.scavenges, 1)])
            panels.append((f"{lab.rows(FILE, factor):,} rows, {title}", vertical(done),
                           [f"'{path}' using 1:2 skip 1 with impulses title 'a scavenge, ms'"]))
    factors = [building / reading for _, reading, building, *_ in found]
    (_, _, with_them, _), (_, _, without, _) = drawn
    most, below = max(factors), sum(factor < 1 for factor in factors)
    cures = sum(building > 2 * cured for _, _, building, _, cured, *_ in found)
    longest = max(line["duration_ns"] / 1e6 for *_, runs in drawn for done in runs for line in done.scavenges)
    chart = lab.chart("figure-8", panels, ["set xlabel 'scavenge'", "set ylabel 'ms'",
                                           f"set yrange [0:{longest * 1.05:.3g}]"], height=300)
    return "\n\n".join([
        chart,
        page.table(["rows", "step 1: a scavenge of reading, us", "of building, us", "slower", "step 3: of reading, us", "of building, us",
                    "faster", "with overhead", "remembered at most, step 1", "step 3"], table),
        f"The chart has time as it passed, of both outcomes: {lab.rows(FILE, with_them):,} rows, where most Arrays stay "
        f"remembered after step 1, and {lab.rows(FILE, without):,}, where fewest do. The table has processor time, of the "
        "file with some more and fewer rows. In the paper, after the first step, each scavenge from the creation of "
        f"the frame to the end takes {paper.REMEMBERED_SLOWER} times as long as before. Its authors see the cause in "
        "one remembered object, or very few, with very many references. No tenuring threshold avoids it (step 2). "
        "Keeping all survivors leaves one scavenge with this overhead. Here, with "
        f"{cures} of {len(FACTORS)} numbers of rows, keeping all survivors makes the scavenges of building more than twice as "
        "fast as after the first step, though hardly anything survives them in either; the column `with overhead` counts the scavenges that keep half of it. After step 1 the "
        f"scavenges of building take at most {page.percent(share)} of the time that passed; 25% in the paper. Each takes at most "
        f"{most:.1f} times as long as one of reading, not {paper.REMEMBERED_SLOWER} times, and less than one for {below} of "
        f"{len(FACTORS)} numbers of rows, for the frame's Arrays are scanned at memory's speed, and scavenges of reading copy "
        "all that was read. How slow they are hangs on chance: some large Array "
        "always stays remembered, but sometimes it is the list of rows alone, and sometimes all Arrays of cells. "
        "What decides: an Array of cells stays in the remembered set as long as one single cell of it is young. The "
        "last rows that were read survive in the semispace, and once they fill less than 90% of it nothing is "
        "tenured any more. Copying is breadth first and comes to rows before their cells, so it depends on the last "
        "few bytes whether a cell is among what stays. With all survivors kept, what survives in eden goes to old "
        "space as soon as the semispace is full, together with what refers to it, and the semispace is full of rows "
        "and of the image's objects.",
    ])


def run(lab):
    return figure_7(lab) + "\n\n" + figure_8(lab)

#!/usr/bin/env bash
# scripts/reproduce at a small scale: each table and figure is there and has the papers' shape (monotone, knee, ratio),
# in counts and bytes, never in time; failures are reported and leave no page.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
unset EDEN_OPTIONS EDEN_LOG EDEN_STATS

reproduce() { scripts/reproduce -B "$build" -o "$folder/data" "$@"; }
expect_status 0 reproduce --scale 0.005 --page "$folder/page.md"

cat >"$folder/check.py" <<'PYTHON'
import csv, os, re, sys
import xml.etree.ElementTree as xml

data, page = sys.argv[1:]

def read(name):
    """Rows of a CSV file, numbers as numbers."""
    def value(text):
        try:
            return float(text)
        except ValueError:
            return text
    with open(os.path.join(data, name + ".csv"), newline="", encoding="utf-8") as file:
        return [{key: value(text) for key, text in row.items()} for row in csv.DictReader(file)]

def column(rows, name):
    return [row[name] for row in rows]

def falls(values, strictly=False):
    return all(a > b if strictly else a >= b for a, b in zip(values, values[1:]))

# Tables 1 and 2: full collections end with the first step; keeping all survivors keeps outgrown tables remembered.
steps = {(row["file"], row["step"]): row for row in read("tuning-tables")}
names = list(dict.fromkeys(step for _, step in steps))
assert len(steps) == 18 and len(names) == 6 and names[-1] == "tuned", names
for size in "529 MB", "1.6 GB", "3.1 GB":
    default, first, kept, early, cards, tuned = (steps[size, name] for name in names)
    assert default["full_collections"] >= 15, default
    for row in first, kept, early, cards:
        assert row["full_collections"] == 0 and 0.9 < row["scavenges"] / default["scavenges"] <= 1, row
    if size != "3.1 GB":
        assert first["remembered_now"] <= 3 < kept["remembered_now"], (first, kept)
    assert early["remembered_now"] == 0, early
    assert tuned["full_collections"] < default["full_collections"] / 2, (tuned, default)
    assert all(row["heap_bytes"] > row["tenured_bytes"] > 0 for row in (default, tuned)), (tuned, default)
fulls = [steps[size, names[0]]["full_collections"] for size in ("3.1 GB", "1.6 GB", "529 MB")]
assert falls(fulls), fulls

# What tune proposes for the default parameters cures at least the full collections.
proposed = {row["file"]: row for row in read("tuned")}
assert list(proposed) == ["529 MB", "1.6 GB", "3.1 GB"], proposed
for row in proposed.values():
    keys, options = row["keys"].split(), dict(option.split("=") for option in row["options"].split(","))
    assert "full.growth" in keys or "full.headroom" in keys, row
    for key, parameter in ("full.growth", "full_gc_ratio"), ("full.headroom", "grow_headroom"):
        assert key not in keys or parameter in options, row

# Figure 2: twice the eden, half the collections; less is copied; nothing is tenured once what lives fits.
rows = read("figure-2")
for small, large in zip(rows, rows[1:]):
    assert large["eden_mib"] == 2 * small["eden_mib"] and abs(small["scavenges"] - 2 * large["scavenges"]) <= 1, large
assert falls(column(rows, "survived_bytes"), strictly=True), rows
tenured = column(rows, "tenured_bytes")
assert falls(tenured) and tenured[0] > 10e6 and tenured[-1] == 0, tenured

# Figure 3: keeping more survivors tenures less, up to the semispace; above, overflow tenures again.
rows = read("figure-3")
tenured = column(rows, "tenured_bytes")
assert falls(tenured[:-1], strictly=True) and tenured[0] > 10 * tenured[-2] and tenured[-1] > tenured[-2], tenured
assert falls(column(rows, "survived_bytes")[::-1], strictly=True), rows

# Figure 4: fewer the larger the ratio, none at infinity; all in vain.
rows = read("figure-4")
fulls = column(rows, "full_collections")
assert falls(fulls) and fulls[0] >= 5 and fulls[-1] == 0 and rows[-1]["full_gc_ratio"] == float("inf"), fulls
assert len(set(fulls)) >= 5 and not any(column(rows, "freed_bytes")), rows

# Figure 5: one for each object while the headroom holds no more than one (the knee), one a headroom above.
rows = {row["headroom_mib_at_scale_1"]: row for row in read("figure-5")}
for headroom, row in rows.items():
    fit = max(1, headroom // 24)
    assert abs(row["full_collections"] - (-(-100 // fit) - 1)) <= 1, row
    assert row["by_allocation"] == row["full_collections"] == row["segments_mapped"] - 1, row
assert rows[16]["full_collections"] == rows[32]["full_collections"] > 1.9 * rows[64]["full_collections"], rows
assert rows[4096]["full_collections"] == 0, rows

# Figure 6: less by the paper's share, from 4 to 2.5 MB, at least; with the bug it is all or nothing.
bug, fixed = read("figure-6-sums")
assert (bug["bug"], fixed["bug"]) == (1, 0) and fixed["tenured_bytes"] <= bug["tenured_bytes"] * 2.5 / 4, (bug, fixed)
for row in read("figure-6"):
    if row["bug"] == 1:
        assert row["tenured_bytes"] == 0 or row["tenured_bytes"] > row["semispace"] / 2, row
    else:
        assert row["threshold"] == 0 or abs(row["threshold"] / row["semispace"] - 0.1) < 0.01, row
        assert row["tenured_bytes"] < row["semispace"] / 5, row
assert sum(row["tenured_bytes"] for row in read("figure-6") if row["bug"] == 1) == bug["tenured_bytes"], bug

# Figures 7 and 8: full collections of both causes before, none after.
before, after, cards = (read(name) for name in ("figure-7", "figure-8", "figure-8-cards"))
causes = {row["cause"] for row in before if row["kind"] == "full"}
assert causes == {"ratio", "allocation"}, causes
for rows in after, cards:
    assert len(rows) > 1000 and all(row["kind"] == "scavenge" for row in rows)
    assert column(rows, "seq") == list(range(1, len(rows) + 1))

# The shrink threshold: above what the program frees nothing is unmapped; below, segments come and go.
rows = read("shrink")
unmapped = column(rows, "segments_unmapped")
assert falls(unmapped) and unmapped[0] >= 10 and unmapped[-1] == 0, unmapped
for row in rows:
    assert 0 <= row["segments_mapped"] - row["segments_unmapped"] <= 20, row

# The configurations: a larger eden means fewer scavenges, larger ratio and headroom fewer full collections.
found = {(row["file"], row["configuration"]): row for row in read("configurations")}
assert len(found) == 24
for size in "529 MB", "1.6 GB", "3.1 GB":
    default, final, tuned = (found[size, name] for name in ("default", "tuning paper", "tuned"))
    assert tuned["full_collections"] < default["full_collections"] / 2, (tuned, default)
    assert final["full_collections"] == 0, final
    for name, row in ("default", default), ("tuned", tuned):  # the same runs as those of the steps
        assert all(row[key] == steps[size, name][key] for key in ("scavenges", "gc_s", "heap_bytes")), row
    of = [found[size, name] for name in ("default", "C1", "C2", "C3", "C4", "C5")]
    scavenges = column(of, "scavenges")
    assert falls(scavenges[:4], strictly=True) and falls(scavenges), scavenges
    assert abs(scavenges[0] / scavenges[1] / (64 / 15) - 1) < 0.1, scavenges
    fulls = column(of, "full_collections")
    assert falls(fulls) and fulls[0] > 1.9 * fulls[1] and fulls[1] > fulls[-1], fulls
assert found["3.1 GB", "default"]["paper_gc_s"] == 3498 and found["529 MB", "C1"]["paper_gc_s"] == ""

# Lifetimes: two humps.
(lives,) = read("lifetimes")
assert 0.82 < lives["die_young"] < 0.85 and 0.15 < lives["long_lived_objects"] < 0.18, lives
assert lives["long_lived_memory"] > lives["long_lived_objects"], lives

# The page shows each; figures are there and drawn.
text = open(page, encoding="utf-8").read()
for title in ("Tables 1 and 2", *(f"Figure {i}:" for i in range(2, 7)), "Figures 7 and 8", "Tables 1 to 5",
              "Figures 4 and 5", "the shrink threshold matters"):
    assert re.search(f"^### .*{title}", text, re.M), title
# The verdict on tuned, size by size: it is what the figures say.
for size in "529 MB", "1.6 GB", "3.1 GB":
    (said,) = re.findall(f"^{size}: tuned GC time, .*?%\\.$", text, re.M | re.S)
    said = " ".join(said.split())
    of = {name: row["gc_s"] for (file, name), row in found.items() if file == size and name != "tuned"}
    here = found[size, "tuned"]["gc_s"]
    assert {name for name in of if f" {name} (" in said} == {name for name in of if of[name] < here}, (said, of)
    assert all(f" {name}" in said for name in of), said
    assert ("is at most that of each of" in said) == (here <= min(of.values())), (said, of)
    assert said.endswith(f"it is {here / of['default']:.0%}."), (said, of)
assert "**Scale 0.005.**" in text and "unknown" in text and "5,599" in text and "3,498" in text
pictures = re.findall(r"^!\[.*\]\((.*)\)$", text, re.M)
assert len(pictures) == len(set(pictures)) == 10, pictures
for name in pictures:
    picture = os.path.join(os.path.dirname(page), name)
    assert len(open(picture, encoding="utf-8").readlines()) == 1, name
    tree = xml.parse(picture).getroot()
    assert tree.tag == "{http://www.w3.org/2000/svg}svg", name
    assert sum(1 for _ in tree.iter("{http://www.w3.org/2000/svg}path")) > 10, name
PYTHON
python3 "$folder/check.py" "$folder/data" "$folder/page.md" || die "a table or figure is wrong"
echo "tables and figures have their shapes"

# The runtime accepts what tune proposes, and the program says under it what it says without.
while IFS=$'\t' read -r size options; do
    file=$(find "$folder/data" -name 'rows-*.csv' | sort -V | sed -n "${size}p")
    expect_status 0 "$build/workloads/dataframe" --json "$file"
    mv "$folder/out" "$folder/plain"
    expect_status 0 env "EDEN_OPTIONS=$options" "$build/workloads/dataframe" --json "$file"
    cmp "$folder/out" "$folder/plain" || die "another answer under $options"
    [[ ! -s $folder/err ]] || die "$options: $(cat "$folder/err")"
done < <(python3 -c 'import csv, sys
for number, row in enumerate(csv.DictReader(open(sys.argv[1], newline="")), 1):
    print(number, row["options"], sep="\t")' "$folder/data/tuned.csv")

# Where nothing can be recorded, tuned is unknown, and the rest is there; other failures of the tool are failures. Files
# are small: what is asked is only whether there is an answer.
mkdir -p "$folder/norights/bin"
ln -s "$(readlink -f "$build")/workloads" "$folder/norights/workloads"
cat >"$folder/tables.py" <<'PYTHON'
import os, sys

from repro import configurations, tuning_tables
from repro.lab import Lab

build = sys.argv[1]
lab = Lab(0.0005, build, os.path.join(build, "data"), os.path.join(build, "figures"))
try:
    print(tuning_tables.run(lab), configurations.run(lab), sep="\n\n")
except RuntimeError as error:
    sys.exit(str(error))
PYTHON
# tables STATUS SCRIPT: with that in place of edenscope.
tables() {
    printf '#!/usr/bin/env bash\n%s\n' "$2" >"$folder/norights/bin/edenscope"
    chmod +x "$folder/norights/bin/edenscope"
    expect_status "$1" env PYTHONPATH=scripts python3 "$folder/tables.py" "$folder/norights"
}
tables 0 'echo "no rights" >&2; exit 2'
grep -q "^reproduce: 'tuned' is left out, for tune can't record here: no rights$" "$folder/err" ||
    die "$(cat "$folder/err")"
[[ $(grep -c '^| .* | tuned | unknown | unknown |' "$folder/out") == 3 ]] || die "not unknown: $(cat "$folder/out")"
[[ $(grep -c '[GM]B: how much GC a tuned run takes is unknown' "$folder/out") == 3 ]] || die "$(cat "$folder/out")"
! grep -q tuned "$folder/norights/data/configurations.csv" || die "a row of what is unknown"
tables 1 'echo broken >&2; exit 3'
grep -q 'edenscope tune .* gave status 3: broken$' "$folder/err" || die "$(cat "$folder/err")"
# shellcheck disable=SC2016
tables 1 'echo "{\"options\": null, \"findings\": []}" >"$4"; echo other'
grep -q 'edenscope tune .* answered otherwise than under other options$' "$folder/err" || die "$(cat "$folder/err")"
echo "tuned is measured, or said to be unknown"

# Some experiments only: printed, and no page.
expect_status 0 reproduce --only "eden, ratio" --page "$folder/none.md"
[[ $(grep -c '^### ' "$folder/out") == 2 && ! -e $folder/none.md ]] || die "--only does not choose"

# What can't be done.
expect_status 1 reproduce --only nonesuch
grep -q "^reproduce: nonesuch: not one of the experiments tables, " "$folder/err" || die "$(cat "$folder/err")"
for bad in "--scale 0" "--scale 0.004" "--scale 2" "--scale x" "--times 0"; do
    # shellcheck disable=SC2086
    expect_status 2 reproduce $bad
done
# A program that fails, has no heap, or answers otherwise under other options.
mkdir -p "$folder/liar/workloads"
fails() {
    printf '#!/usr/bin/env bash\n%s\n' "$1" >"$folder/liar/workloads/micro"
    chmod +x "$folder/liar/workloads/micro"
    expect_status 1 scripts/reproduce -B "$folder/liar" -o "$folder/liar/data" --only eden
    grep -qE "$2" "$folder/err" || die "'$1': $(cat "$folder/err")"
}
fails 'echo broken >&2; exit 3' 'gave status 3: broken'
fails 'true' 'had 0 heaps, not one'
fails "echo \$EDEN_OPTIONS; exec $(readlink -f "$build")/workloads/micro \"\$@\"" 'answered otherwise than under other'
echo "what fails is said"

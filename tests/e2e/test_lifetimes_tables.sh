#!/usr/bin/env bash
# scripts/lifetimes-tables at a small scale: all files are there and well-formed, counts are whole, the data frame's mix
# and its share of objects that die at once are the paper's; and bench/lifetimes.py: the JSON it writes, and that a
# profile that lost something fails it. Never how long anything took.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
make --no-print-directory -s B="$build" "$build/bench/selftime.so"
rows=30000
"$build/workloads/mkdata" --rows $rows >"$folder/data.csv"
unset EDEN_OPTIONS

tables() { scripts/lifetimes-tables --small -B "$build" "$@"; }
expect_status 0 tables --samplings "all 1/100" -o "$folder/repro" "$folder/data.csv"
cmp <(head -n -2 "$folder/out") "$folder/repro/tables.txt" || die "what is printed is not tables.txt"

cat >"$folder/check.py" <<'PYTHON'
import csv, json, os, sys
import xml.etree.ElementTree as xml

folder, rows = sys.argv[1], int(sys.argv[2])
PROGRAMS = "dataframe", "honeyginger", "mobidyc", "bloc", "moose"
RATES = {"all": "100", "1/100": "1"}

def read(name):
    return list(csv.DictReader(open(os.path.join(folder, name), newline="", encoding="utf-8")))

def text(name):
    return open(os.path.join(folder, name), encoding="utf-8").read()

classes, runs = read("classes.csv"), read("runs.csv")
wanted = {(program, rate) for program in PROGRAMS for rate in RATES}
assert len(runs) == len(wanted) and {(run["program"], run["sampling"]) for run in runs} == wanted
for run in runs:
    of = [row for row in classes if (row["program"], row["sampling"]) == (run["program"], run["sampling"])]
    assert len(of) >= 4, run
    for row in of:
        assert int(row["births"]) == int(row["deaths"]) + int(row["censored"]) > 0, row
    for share in "allocation_share", "memory_share":
        assert abs(sum(float(row[share]) for row in of) - 1) < 1e-9, run
    assert abs(sum(float(run[kind + "_lived_objects"]) for kind in ("short", "long")) - 1) < 1e-9, run
    assert 0 <= float(run["die_young"]) <= 1 and 0 <= float(run["die_early"]) <= 1, run
    assert int(run["collections"]) > 10, run

    # Its files.
    base = f"{run['program']}/{RATES[run['sampling']]}"
    most = max(of, key=lambda row: float(row["objects"]))["name"]
    for form in "density", "histogram", "survival":
        tree = xml.parse(os.path.join(folder, f"{base}.{form}.svg")).getroot()
        assert tree.tag == "{http://www.w3.org/2000/svg}svg", (base, form, tree.tag)
        assert sum(1 for _ in tree.iter("{http://www.w3.org/2000/svg}path")) > 3, (base, form)
    assert f"{most}: " in text(base + ".histogram.txt"), (base, most)
    assert text(base + ".density.txt").count("95% - 100%") == 2, base
    seen = json.loads(text(base + ".json"))
    assert seen["lost"] == 0 and seen["sampling"] == run["sampling"] and seen["mechanism"] == "vm", base
    # Each form is a run of its own: at 100%, of the same objects.
    if run["sampling"] == "all":
        for clock in "ns", "bytes", "scavenges", "fulls":
            counted = sum(int(row["samples"]) for row in read(base + ".csv") if row["clock"] == clock)
            assert counted == int(run["samples"]) == sum(row["births"] for row in seen["classes"]), (base, clock)

# The data frame: the mix, to the unit; and most die at once while the rest lives to the end.
# For each row: the number of objects, and its shares of all objects and of memory.
MIX = {"NumberParser": (12, 27.9, 45.6), "Fraction": (12, 27.9, 11.4), "ReadStream": (12, 27.9, 15.2),
       "ByteString": (6, 13.95, 7.6), "Array": (1, 2.3, 20.2)}
frame = {(row["sampling"], row["name"]): row for row in classes if row["program"] == "dataframe"}
for name, (each, share, memory) in MIX.items():
    exact, sampled = frame["all", name], frame["1/100", name]
    assert 0 <= int(exact["births"]) - each * rows < (100 if name == "Array" else 1), exact
    assert abs(100 * float(exact["allocation_share"]) - share) < 0.06, exact
    assert abs(100 * float(exact["memory_share"]) - memory) < 1, exact  # how lists grow depends on the rows
    assert abs(100 * float(sampled["allocation_share"]) - share) < 5, sampled
    lives = name in ("ByteString", "Array")
    assert (int(exact["censored"]) / int(exact["births"]) > 0.99) == lives, exact
    if lives:
        assert exact["verdict"] == sampled["verdict"] == "long-lived", exact
young = {run["sampling"]: float(run["die_young"]) for run in runs if run["program"] == "dataframe"}
assert 0.82 < young["all"] < 0.84 and 0.78 < young["1/100"] < 0.88, young
alive = sum(int(row["censored"]) for (rate, _), row in frame.items() if rate == "all")
born = sum(int(row["births"]) for (rate, _), row in frame.items() if rate == "all")
assert young["all"] + alive / born > 0.99, (young, alive, born)  # bimodal: nothing between

# The tables show it, beside the paper.
lines = text("tables.txt").splitlines()
for i in range(1, 6):
    assert any(line.startswith(f"Table {i}. ") for line in lines), i
shown = {line.split(",")[0].strip(): line.split() for line in lines if ", of objects " in line}
for name, paper in (("NumberParser", "27.9%"), ("Fraction", "27.9%"), ("ReadStream", "27.9%"),
                    ("ByteString", "13.9%"), ("Array", "2.3%")):
    assert shown[name][-1] == paper and abs(float(shown[name][3].rstrip("%")) - MIX[name][1]) < 0.06, shown[name]
assert any("die at once" in line and line.endswith("about 85%") for line in lines)
assert "Figures 4 and 5" in text("README.txt") and "100%, 1%" in text("README.txt")
PYTHON
python3 "$folder/check.py" "$folder/repro" $rows || die "the tables are wrong"
echo "tables and figures of five programs at two rates"

# Failures are reported, and leave no tables.
for bad in "--programs nonesuch" "--samplings 1/3"; do
    # shellcheck disable=SC2086
    expect_status 1 tables $bad -o "$folder/none" "$folder/data.csv"
    grep -q "^lifetimes-tables: ${bad#* }: not one of" "$folder/err" || die "$bad is not explained: $(cat "$folder/err")"
done
expect_status 1 tables --programs dataframe --samplings all -o "$folder/none" "$folder/missing.csv"
grep -q "^lifetimes-tables: .*missing.csv.* gave status 1" "$folder/err" || die "a program that fails is not named"
[[ ! -e $folder/none/tables.txt ]] || die "there are tables of a run that failed"

# The bench: what it writes.
bench() {
    local builds=$1
    shift
    bench/lifetimes.py -B "$builds" --selftime "$build/bench/selftime.so" --programs dataframe -o "$folder/bench.json" "$@" \
        "$folder/data.csv"
}
check_bench() { python3 -c "
import json, sys
sys.path.insert(0, 'bench')
from lifetimes_table import flat
written = json.load(open('$folder/bench.json'))
assert len({(entry['program'], entry['mechanism'], entry['sampling']) for entry in written}) == len(written)
entries = {(entry['mechanism'] if entry['output'] == 'sums' else entry['output'], entry['sampling']): entry
           for entry in flat(written)}
$1" || die "bench: $(cat "$folder/bench.json")"; }
expect_status 0 bench "$build" -n 2 -e 1 --samplings all,1/1000
check_bench "
assert set(entries) == {(m, s) for m in ('vm', 'ephemeron', 'pretenured') for s in ('all', '1/1000')} | {('records', 'all')}
for (mechanism, sampling), entry in entries.items():
    ratio = entry['time_ratio']
    assert entry['program'] == 'dataframe' and set(ratio) == {'min', 'median', 'max'}, entry
    assert 0 < ratio['min'] <= ratio['median'] <= ratio['max'] and entry['memory_ratio'] > 0, entry
    assert entry['lost'] == 0 and entry['problems'] == [] and entry['tool_cpu_s'] > 0, entry
    assert len(entry['ratios']) == entry['pairs'] == (2 if entry['mechanism'] == 'vm' else 1), entry
    assert (entry['interval'] is None) == (entry['mechanism'] != 'vm') and ('gain' in entry) == (mechanism == 'pretenured'), entry
    assert (entry['ns_per_object'] is not None) == (sampling == 'all'), entry
frame = entries['vm', 'all']
assert entries['records', 'all']['objects'] == frame['objects'] and entries['records', 'all']['file_bytes'] > frame['objects']
assert 43 * $rows < frame['objects'] < 43 * $rows + 100, frame
assert abs(frame['paper_memory_ratio'] - 1 - 80 * frame['objects'] / frame['allocated_bytes']) < 1e-9, frame"
for heading in "1. CPU time" "2. Averages over dataframe" "3. Memory" "4. Ephemerons" "5. CPU time with every record"; do
    grep -qF "$heading" "$folder/out" || die "the bench does not print '$heading'"
done
bench/lifetimes_table.py "$folder/bench.json" | cmp - <(head -n -2 "$folder/out") || die "the file has not what is printed"

# A tool that loses something, and a program that prints something else, fail it.
mkdir -p "$folder/liar/bin"
ln -s "$(readlink -f "$build")/workloads" "$folder/liar/workloads"
cat >"$folder/liar/bin/edenscope" <<LIAR
#!/usr/bin/env bash
"$(readlink -f "$scope")" "\$@" || exit
while [[ \$1 != -o ]]; do shift; done
sed -i 's/"lost": *0/"lost": 3/' "\$2"
echo more
LIAR
chmod +x "$folder/liar/bin/edenscope"
expect_status 1 bench "$folder/liar" -n 1 -e 0 --samplings 1/100
check_bench "
entry = entries['vm', '1/100']
assert entry['lost'] == 3 and len(entry['problems']) == 2, entry"
grep -q 'WRONG: dataframe 1% vm: round 1: 3 lost' "$folder/out" || die "a loss is not reported"
grep -q 'WRONG: dataframe 1% vm: round 1: the program printed something else' "$folder/out" || die "output is not compared"
echo "the bench: its file, and what fails it"

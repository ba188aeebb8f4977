#!/usr/bin/env bash
# edenscope report --html: the page's data are those of the views, of tune and of lifetimes; it loads nothing, and no name
# gets out of its data. What a browser makes of it, `make test-page` looks at.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
page=$PWD/tests/e2e/page.py
gun=$(readlink -f "$build/tests/probe_gun")
micro=$(readlink -f "$build/workloads/micro")
enter_folder

"$scope" record --lifetimes -o some.data -- "$exercise" >/dev/null 2>&1
expect_status 0 "$scope" report -i some.data --html some.html
[[ ! -s out && ! -s err ]] || die "$(cat out err)"
python3 "$page" some.html >some.json || die "the page is another"
for view in pauses stops histogram causes phases timeline heap tenuring; do
    "$scope" report -i some.data --view "$view" --json >"$view.json"
done
"$scope" report -i some.data --json >report.json
"$scope" tune -i some.data --json >tune.json
"$scope" lifetimes -i some.data --json >lifetimes.json
"$scope" lifetimes -i some.data --view survival --top 8 >survival.csv
"$scope" lifetimes -i some.data --view csv >histograms.csv
python3 - <<'PYTHON'
import csv, json
page = json.load(open("some.json"))
assert {"schema": "edenscope/stat/1", **page["summary"]} == json.load(open("report.json"))
assert page["findings"] == json.load(open("tune.json")) and page["findings"]["findings"]
assert page["lifetimes"] == json.load(open("lifetimes.json")) and page["lifetimes"]["classes"]
# The curves: where each begins, and a point for each row of the view.
rows, shown = {}, {}
for row in csv.DictReader(open("survival.csv", newline="")):
    rows.setdefault((row["pid"], row["heap"], row["serial"], row["index"], row["class"]), []).append(row)
for curve in page["survival"]["curves"]:
    names = "pid", "heap", "serial", "class_id", "name"
    if curve["ns"]:
        shown[tuple("" if curve[name] is None else str(curve[name]) for name in names)] = curve["ns"]
assert page["survival"]["top"] == 8 and shown and list(shown) == list(rows), (list(shown), list(rows))
for key, (first, *rest) in shown.items():
    assert first == [int(rows[key][0]["lower"]), 1], (key, first)
    assert [upper for upper, _ in rest] == [int(row["upper"]) if row["upper"] else None for row in rows[key]], key
    assert all(abs(alive - float(row["survival"])) < 1e-8 for (_, alive), row in zip(rest, rows[key])), key
# Those by allocation, for which no view is: from the view's histograms (Kaplan and Meier).
ended = {}
for row in csv.DictReader(open("histograms.csv", newline="")):
    if row["clock"] == "bytes":
        buckets = ended.setdefault((row["pid"], row["heap"], row["serial"], row["class"] or row["site"]), {})
        edges = int(row["lower"]), int(row["upper"]) if row["upper"] else None
        buckets.setdefault(edges, [0, 0])[int(row["censored"])] += float(row["objects"])
for curve in page["survival"]["curves"]:
    key = tuple("" if curve[name] is None else str(curve[name]) for name in ("pid", "heap", "serial", "name"))
    alive, left, wanted = 1, sum(map(sum, ended[key].values())), []
    for (lower, upper), (died, censored) in sorted(ended[key].items()):
        wanted += [[upper, alive := alive * (1 - died / left)]] if wanted else [[lower, 1], [upper, alive := 1 - died / left]]
        left -= died + censored
    assert len(wanted) == len(curve["bytes"]) > 1, (key, wanted, curve["bytes"])
    assert all(a[0] == b[0] and abs(a[1] - b[1]) < 1e-6 for a, b in zip(wanted, curve["bytes"])), (key, wanted, curve["bytes"])
print(f"{len(shown)} curves of survival, {sum(map(len, shown.values()))} points")
tables = set()
for view in ("pauses", "stops", "histogram", "causes", "phases", "timeline", "heap", "tenuring"):
    heaps = json.load(open(f"{view}.json"))["heaps"]
    assert len(heaps) == len(page["heaps"]) > 1
    for heap, mine in zip(heaps, page["heaps"]):
        process, place = mine["place"]
        assert (heap.pop("pid"), heap.pop("serial")) == (mine["pid"], mine["serial"])
        assert heap.pop("heap") == page["summary"]["processes"][process]["heaps"][place]["heap"]
        for name, rows in heap.items():
            table = mine["tables"][f"{view}.{name}"]
            tables.add(f"{view}.{name}")
            assert table["group"] == 1
            assert [dict(zip(table["columns"], row)) for row in table["rows"]] == rows, (view, name)
assert all(set(heap["tables"]) == tables for heap in page["heaps"]), tables
PYTHON
echo "the data are those of the views"

# More collections than a page draws: of each group the highest, and it says so.
EDEN_OPTIONS=policy=fixed,eden_size=64K "$scope" record -o many.data -- sh -c 'for i in 1 2 3 4 5 6 7; do "$1" survivors; done' \
    sh "$micro" >/dev/null 2>&1
sqlite3 many.data "UPDATE event SET heap_id = 1, heap = (SELECT max(heap) FROM heap), process = (SELECT max(process) FROM heap),
    serial = (SELECT max(serial) FROM heap)"
"$scope" report -i many.data --html many.html
python3 "$page" many.html >many.json
"$scope" report -i many.data --view stops --json >stops.json
python3 - <<'PYTHON'
import json
every = json.load(open("stops.json"))["heaps"][-1]["stops"]
table = json.load(open("many.json"))["heaps"][-1]["tables"]["stops.stops"]
group = table["group"]
assert len(every) > 20000 and group == -(-len(every) // 20000), (len(every), group)
shown = [dict(zip(table["columns"], row)) for row in table["rows"]]
highest = []
for i in range(0, len(every), group):
    for kind in ("scavenge", "full collection"):
        of_kind = [stop for stop in every[i:i + group] if stop["kind"] == kind]
        highest += [max(of_kind, key=lambda stop: stop["ns"])] if of_kind else []
in_order = lambda stops: sorted(stops, key=lambda stop: (stop["time_ns"], stop["ns"]))
assert in_order(shown) == in_order(highest), "not the highest of each kind"
assert {stop["kind"] for stop in shown} == {"scavenge", "full collection"}
print(f"{len(every)} pauses as {len(shown)}")
PYTHON

# Of one heap, nothing of the others; with too little memory, no page.
"$scope" report -i some.data --heap 3 --html one.html
python3 "$page" one.html >one.json
python3 - <<'PYTHON'
import json
page = json.load(open("one.json"))
assert len(page["heaps"]) == 1 and page["heaps"][0]["parameters"]["policy"], page["heaps"]
for found in page["findings"]["findings"] + page["lifetimes"]["classes"] + page["lifetimes"]["heaps"] + page["survival"]["curves"]:
    assert found["heap"] == 3, found
PYTHON
whole=0 failed=0
for ((kilobytes = 10000; kilobytes < 90000 && whole < 3; kilobytes += 4000)); do
    rm -f short.html
    if (ulimit -v $kilobytes && exec "$scope" report -i many.data --html short.html) 2>err; then
        cmp -s short.html many.html || die "with $kilobytes KB the page is another"
        whole=$((whole + 1))
    else
        [[ ! -e short.html && -s err ]] || die "with $kilobytes KB half a page, or no word"
        failed=$((failed + 1))
    fi
done
[[ $whole -ge 3 && $failed -ge 3 ]] || die "$whole whole, $failed failed"
echo "a page is whole, or there is none ($failed of $((whole + failed)))"

# A heap whose number is unknown has its findings, too: the page finds them by number and serial.
"$scope" record -o unknown.data -- "$gun" full__start:0x1000,1 full__done:0x1000,1,700000000 >/dev/null 2>&1
"$scope" report -i unknown.data --html unknown.html
python3 "$page" unknown.html >unknown.json
"$scope" tune -i unknown.data --json >tune.json 2>/dev/null
python3 - <<'PYTHON'
import json
page = json.load(open("unknown.json"))
heap, = page["heaps"]
model = page["summary"]["processes"][heap["place"][0]]["heaps"][heap["place"][1]]
findings = json.load(open("tune.json"))
assert page["findings"] == findings and findings["findings"] and findings["accounts"] and findings["unexamined"], findings
for row in findings["findings"] + findings["accounts"] + findings["unexamined"]:
    assert (row["pid"], row["heap"], row["serial"]) == (heap["pid"], model["heap"], heap["serial"]), (row, model)
assert model["heap"] is None
PYTHON
echo "findings of a heap whose number is unknown"

# ---- what may not be ----

expect_status 1 "$scope" report -i missing.data --html new.html
[[ ! -e new.html ]] || die "half a page"
echo mine >other.html
expect_status 1 "$scope" report -i some.data --html other.html
grep -q 'not a file of this kind' err && [[ $(cat other.html) == mine ]] || die "$(cat err)"
expect_status 0 "$scope" report -i some.data --html some.html
expect_status 1 "$scope" report -i some.data --html some.html --view pauses
grep -q 'cannot be combined' err || die "$(cat err)"
head -c 3000 some.data >cut.data
expect_status 1 "$scope" report -i cut.data --html some.html
python3 "$page" some.html >/dev/null || die "the page that was there is lost"
echo "mistakes are named, and cost nothing"

# A script's page that is written in its background, where a shell without job control ignores ^C, is not for ^C.
"$scope" report -i many.data --html background.html &
tool=$!
until_true "the tool runs" bash -c "[[ ! -e /proc/$tool || /proc/$tool/exe -ef $scope ]]"
kill -INT "$tool" 2>/dev/null || true
wait "$tool" || die "a page in the background ends with status $?"
python3 "$page" background.html >background.json
echo "a page in the background is written to its end"

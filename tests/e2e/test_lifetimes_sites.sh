#!/usr/bin/env bash
# A program with very many sites, allocated at in descending order: all of them are shown, with all their objects, in each
# of the ways in which they come; and a signal ends a view that goes on and on.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
HEAPS=2 SITES=40000
program=("$build/tests/sites" "$HEAPS" "$SITES")

# expect_all FILE: each site of each heap has one object, which died; none is lost.
expect_all() {
    python3 - "$1" "$HEAPS" "$SITES" <<'PYTHON'
import json
import sys

report, heaps, sites = json.load(open(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
assert report["lost"] == 0, report["lost"]
for heap in range(1, heaps + 1):
    rows = [row for row in report["sites"] if row["heap"] == heap]
    assert [row["name"] for row in rows] == [f"site {i}" for i in range(sites)], (heap, len(rows))
    assert all(row["births"] == row["deaths"] == 1 for row in rows)
PYTHON
}

expect_status 0 "$scope" lifetimes --details --json --sampling all -- "${program[@]}"
expect_all "$folder/out"
expect_status 0 "$scope" record --lifetimes=details --sampling all -o "$folder/sites.data" -- "${program[@]}"
expect_status 0 "$scope" lifetimes --json -i "$folder/sites.data"
expect_all "$folder/out"
expect_status 0 "$scope" tune --json -- "${program[@]}"

# The kernel's sums hold 131,072 sites and outcomes: what they lack is counted.
expect_status 0 "$scope" lifetimes --json --sampling all -- "$build/tests/sites" 3 60000
python3 - "$folder/out" <<'PYTHON'
import json
import sys

report = json.load(open(sys.argv[1]))
shown = sum(row["births"] + row["deaths"] for row in report["sites"])
assert shown == 1 << 17, shown
assert report["lost"] >= 2 * 3 * 60000 - shown, report["lost"]
PYTHON

# A view that nobody reads: the tool waits in it.
mkfifo "$folder/fifo"
"$scope" lifetimes --details --view csv --sampling all -- "${program[@]}" >"$folder/fifo" 2>"$folder/err" &
tool=$!
exec {reader}<"$folder/fifo"
read -r heading <&"$reader"
[[ $heading == pid,* ]] || die "the view begins with '$heading'"
kill -TERM "$tool"
status=0
wait "$tool" || status=$?
[[ $status == 143 ]] || die "SIGTERM in a view: status $status: $(cat "$folder/err")"
echo "all sites are shown, and a signal ends a view"

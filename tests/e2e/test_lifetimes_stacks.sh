#!/usr/bin/env bash
# edenscope lifetimes --stacks: the functions of a program that allocate are named, with all that call them; every object
# is at exactly one stack, also where stacks are unknown or end early; whole stacks in folded and pprof form.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

here=$PWD/tests/e2e
program=$build/tests/allocators
seen=$folder/seen.json

# stacks ARGUMENT...: to $seen.
stacks() {
    "$scope" lifetimes --stacks --json -o "$seen" "$@" >"$folder/out" 2>"$folder/err" ||
        die "lifetimes --stacks $* gave status $?: $(cat "$folder/err")"
}

# check WHAT PYTHON: the statements about what was `seen`.
check() {
    PYTHONPATH=$folder:$here python3 -c "
from garden import *
seen = read('$seen')
$2" || die "$1: $(cat "$folder/err")"
}

cat >"$folder/garden.py" <<'PYTHON'
from lifetimes_json import *

CALLERS = {"Leaf": {("make_leaf", "grow", "main"), ("make_leaf", "regrow", "main")},
           "Branch": {("make_branch", "grow", "main")}, "Trunk": {("make_trunk", "grow", "main")}}

def births(rows):
    found = {}
    for row in rows:
        found[row["class"]] = found.get(row["class"], 0) + row["births"]
    return found

def adds_up(seen):
    """By stack as by class, to the unit; unknown stacks are reported."""
    whole(seen)
    assert births(seen["sites"]) == {row["name"]: row["births"] for row in seen["classes"]}, seen["sites"]
    unknown = sum(row["births"] for row in seen["sites"] if row["stack"] is None)
    assert unknown == sum(heap["unknown_stacks"] for heap in seen["heaps"]), unknown

def is_garden(seen):
    """The three functions, as called by the two that call them."""
    adds_up(seen)
    for name, wanted in CALLERS.items():
        rows = [row for row in seen["sites"] if row["class"] == name and row["stack"]]
        assert {tuple(row["stack"][:3]) for row in rows} == wanted, rows
        assert all(row["name"].startswith(row["stack"][0] + " < " + row["stack"][1]) for row in rows), rows
PYTHON

need_edenscope

for way in "stacks --sampling bytes=8K" "stacks --sampling 1/100 --mechanism ephemeron" \
    "switched NO_MULTI=1 stacks --sampling 1/100"; do
    $way -- "$program" 1000000
    check "$way" "
is_garden(seen)
assert seen['heaps'][0]['unknown_stacks'] == 0, seen['heaps']
leaf = {row['stack'][1]: row['births'] for row in seen['sites'] if row['class'] == 'Leaf'}
assert 2 < leaf['grow'] + leaf['regrow'] and 1.2 < leaf['grow'] / leaf['regrow'] < 1.8, leaf"
done
echo "the functions that allocate are named, with their callers; births by stack are births by class"

# The same by views: whole stacks.
expect_status 0 "$scope" lifetimes --stacks --sampling 1/100 -- "$program" 1000000
grep -q 'births.* stack$' "$folder/err" || die "the table has no stacks"
grep -q 'stacks of 0 samples are unknown' "$folder/err" || die "the table does not show how many are unknown"
grep -q 'Branch, make_branch < grow < main' "$folder/err" || die "the table does not name a stack"
expect_status 0 "$scope" lifetimes --stacks --sampling 1/100 --view folded -- "$program" 1000000
grep -q ';main;grow;make_trunk;Trunk;' "$folder/out" || die "no folded stack: $(cat "$folder/out")"
expect_status 0 "$scope" lifetimes --stacks --sampling 1/100 --view pprof -o "$folder/pprof" -- "$program" 1000000
gzip -dc <"$folder/pprof" >"$folder/plain"
grep -aq make_branch "$folder/plain" || die "pprof's profile does not name the functions"
echo "views show whole stacks"

# Of a process that runs already.
"$program" 1000000000 &
stacks --sampling 1/200 -p $! 0.5
check "a running process" "
is_garden(seen)
assert all(row['births'] > 0 for row in seen['sites'])"
echo "a running process has stacks"

# Without frame pointers, or names: nothing is made up, and nothing is missing.
stacks --sampling 1/100 -- "$program-bare" 1000000
check "without frame pointers" "
adds_up(seen)
named = {name for row in seen['sites'] for name in row['stack'] or []}
assert not any(name.startswith(('eden_', 'lifetimes_', 'sampling_')) for name in named), named"
strip -o "$folder/stripped" "$program"
stacks --sampling 1/100 -- "$folder/stripped" 1000000
check "a stripped program" "
adds_up(seen)
named = {name for row in seen['sites'] for name in row['stack'] or []}
assert '[stripped]' in named and not any('make' in name for name in named), named"
switched WITHOUT=alloc__sample stacks --sampling 1/100 -- "$program" 1000000
check "without the probe" "
adds_up(seen)
assert all(row['stack'] is None and row['name'] == 'unknown stack' for row in seen['sites'])
assert seen['heaps'][0]['unknown_stacks'] == total(seen, 'births') > 1000"
echo "unknown stacks are counted as such"

for bad in "--sampling all" "--sampling 1/99" "--sampling nth=1000" "--sampling bytes=4K" "--sampling window=1/999" "--pretenure x" "--details"; do
    # shellcheck disable=SC2086
    expect_status 1 "$scope" lifetimes --stacks $bad -- "$program"
    grep -q -- '--stacks' "$folder/err" || die "$bad: does not say why: $(cat "$folder/err")"
done
expect_status 1 "$scope" lifetimes --stacks -i "$folder/none"
echo "what stacks can't be taken with is refused"

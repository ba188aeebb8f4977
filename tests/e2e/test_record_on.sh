#!/usr/bin/env bash
# record --rotate --on: only files in which the condition holds stay, and the one before each.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
need_edenscope
enter_folder

files() { find . -maxdepth 1 -name "$1.*Z" -printf '%f\n' | sort; }

# A program that does nothing, and one that has long pauses when a line comes. (Others may run them, too.)
idle=idle-$$ long=long-$$
copy_program "$build/tests/children" "$idle"
cp "$build/tests/pauses" "$long"
mkfifo go stop
"./$idle" wait <stop >/dev/null 2>&1 &
waiting=$!
exec 8>stop
sh -c 'read line; exec "$@"' - "./$long" sleep 20 <go >/dev/null &
pausing=$!
exec 9>go

"$scope" record -o kept.data --rotate 1 --on 'pause>15ms' --on failure -n "$idle" -n "$long" 2>err &
tool=$!
has_seen() {
    files kept.data >>seen
    sort -u -o seen seen
    (($(wc -l <seen) >= $1))
}
until_true "four files were there" has_seen 4
echo >&9
wait "$pausing" || die "the program with long pauses gives status $?"
until_true "a long pause is reported" grep -qE \
    "process [0-9]+ \($long\): pause of .*; keeping kept.data[^,]*Z, and kept.data.*Z, the file before it" err
last=$(wc -l <seen)
until_true "three more files were there" has_seen $((last + 3))
kill -INT "$tool"
wait "$tool" || die "record --rotate --on gives status $?: $(cat err)"

files kept.data >left
[[ -s left ]] || die "nothing is left: $(cat err)"
python3 - "$scope" <<'PYTHON' || die "other files stay than those with long pauses, and those before: $(cat left err)"
import json, sqlite3, subprocess, sys
def has_long(name):
    stops = subprocess.run([sys.argv[1], "report", "--view", "stops", "--json", "-i", name], stdout=subprocess.PIPE, check=True)
    return any(stop["ns"] > 15000000 for heap in json.loads(stops.stdout)["heaps"] for stop in heap["stops"])
names = open("left").read().split()
held = [has_long(name) for name in names]
whole = [sqlite3.connect(name).execute("SELECT value FROM meta WHERE key = 'finished'").fetchone()[0] for name in names]
assert any(held) and all(value == 1 for value in whole), (held, whole)
assert not held[0] and held[1] and held[-1], held  # what led up to it, and nothing after it
assert all(one or other for one, other in zip(held, held[1:])), held
print(sum(held), file=open("held", "w"))
PYTHON
(($(wc -l <left) < $(wc -l <seen))) || die "nothing has gone: $(cat left)"
grep -c 'pause of' err >reported
cmp -s reported held || die "not each file's first long pause is reported: $(cat err)"
sed -n 's/^edenscope: kept //p' err | cmp -s - left || die "other files are named at the end than those that stay: $(cat err left)"
! grep -q wrote err || die "files are reported that have gone: $(cat err)"
echo "files in which the condition holds stay, and the one before"

# The first file has none before it.
mkfifo shots
"$build/tests/probe_gun" heap__create:0x1000,1,demo wait scavenge__start:0x1000,1 scavenge__done:0x1000,1,20000000 wait \
    <shots >gun &
target=$!
exec 7>shots
until_true "the gun waits" grep -q waiting gun
"$scope" record -o first.data --rotate 1h --on 'pause>15ms' -p "$target" 2>err &
tool=$!
has_begun() { [[ -n $(files first.data) ]]; }
until_true "the first file is there" has_begun
echo >&7
until_true "a long pause is reported" grep -qF "process $target (probe_gun): pause of 20.0 ms; keeping first.data" err
echo >&7
exec 7>&-
wait "$tool" || die "record --rotate --on gives status $?: $(cat err)"
first=$(files first.data)
[[ $(wc -l <<<"$first") == 1 ]] || die "other files than the first: $first"
grep -qE "; keeping $first\$" err && grep -qxF "edenscope: kept $first" err && ! grep -q 'file before' err ||
    die "files are named that are not there: $(cat err)"
"$scope" record -o none.data --rotate 1h --on failure -p "$waiting" 0.1 2>err || die "record --on failure gives status $?: $(cat err)"
grep -qx 'edenscope: kept no file' err && [[ -z $(files none.data) ]] || die "no file is to stay: $(cat err)"
echo "only files that are there are named"

# A pause is a full collection with its scavenge; neither alone need be that long. Failures have no length.
for wrong in 'pause' 'pause>' 'pause>5' 'pause>5m' 'pause>-1ms' 'failure>1' 'pauses>1ms' 'pause>1e12s' ''; do
    expect_status 1 "$scope" record --rotate 1 --on "$wrong" -p "$waiting"
    grep -q -- "--on .*give pause>TIME" err || die "--on '$wrong': $(cat err)"
done
expect_status 1 "$scope" record --on failure -p "$waiting"
grep -q -- '--on: needs --rotate' err || die "--on without --rotate: $(cat err)"
echo >&8
echo >&8
wait "$waiting" || die "the idle program gives status $?"
echo "wrong conditions are refused"

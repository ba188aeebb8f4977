#!/usr/bin/env bash
# dataframe against scripts/check-dataframe.py, which shares no code with it: every count, distinct and sum (exactly) must
# be equal, over real, generated and nasty files, at ordinary and at tiny heap sizes; and the error cases.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

program=$build/workloads/dataframe
oui=/usr/share/ieee-data/oui.csv

# expect_equal FILE [REFERENCE]: what both print must be the same JSON value, floats to the last bit.
expect_equal() {
    local reference=$folder/reference.json
    scripts/check-dataframe.py "$1" >"$reference"
    local options
    # A tiny eden collects all the time; with planning every full collection moves what is old.
    for options in "" "eden_size=64K,grow_headroom=64K" "eden_size=64K,grow_headroom=64K,compactor=planning" \
        "eden_size=256K,large_object=4096,full_gc_ratio=0.05,remembered_set=object"; do
        EDEN_OPTIONS=$options "$program" --json --verify --image 1 "$1" >"$folder/answer.json" ||
            die "$1 with '$options': exit status $?"
        python3 - "$reference" "$folder/answer.json" <<'PYTHON' || die "$1 with '$options': the answers differ"
import json, sys
reference, answer = (json.load(open(name, encoding="utf-8")) for name in sys.argv[1:])
if reference != answer:
    print("reference rows", reference["rows"], "answer rows", answer["rows"])
    for a, b in zip(reference["columns"], answer["columns"]):
        if a != b:
            print("reference", a, "\nanswer   ", b)
    sys.exit(1)
PYTHON
    done
}

tests/e2e/make-nasty-csv.py "$folder/csv"
for file in "$folder"/csv/*.csv; do
    [[ $file == */bad_* ]] || expect_equal "$file"
done
"$build/workloads/mkdata" --rows 20000 --seed 7 >"$folder/linear.csv"
expect_equal "$folder/linear.csv"
[[ -r $oui ]] || die "$oui is missing: scripts/setup installs it"
expect_equal "$oui"

# Data sets of the papers' sizes: their shapes; cells that are empty; the same seed gives the same bytes, another one
# other bytes.
make_dataset() { B=$build scripts/make-dataset "$folder/${1:-none}.csv" "$@"; }
for set in "529MB .005 5 2" "1.6GB .002 6 3" "3.1GB .0005 100 22" "filip .001 6 6"; do
    read -r name scale columns numbers <<<"$set"
    make_dataset "$name" "$scale"
    expect_equal "$folder/$name.csv"
    jq -e --argjson columns "$columns" --argjson numbers "$numbers" '(.columns | length) == $columns and
        ([.columns[] | select(.type == "number")] | length) == $numbers' "$folder/reference.json" >/dev/null ||
        die "$name has another shape: $(head -c 1000 "$folder/reference.json")"
done
"$build/workloads/mkdata" --rows 3000 --columns 4 --text 2 --text-bytes 30 --empty 50 >"$folder/empty.csv"
expect_equal "$folder/empty.csv"
jq -e '.columns[1].distinct | . > 1000 and . < 2000' "$folder/reference.json" >/dev/null || die "not half of the texts is empty"
cp "$folder/529MB.csv" "$folder/before.csv"
make_dataset 529MB .005 1
cmp "$folder/529MB.csv" "$folder/before.csv" || die "mkdata is not reproducible"
make_dataset 529MB .005 2
! cmp -s "$folder/529MB.csv" "$folder/before.csv" || die "mkdata ignores its seed"
for bad in "" "529MB x" "529MB 1 -1" "529MB 1 1 1" "nonesuch"; do
    # shellcheck disable=SC2086
    expect_status 2 make_dataset $bad
done
for bad in "" "--rows" "--rows x" "--rows -1" "--rows 1 --columns 0" "--rows 1 --text 6" "--rows 1 --empty 101" "--rows 1 x"; do
    # shellcheck disable=SC2086
    expect_status 2 "$build/workloads/mkdata" $bad
    grep -q '^usage: mkdata' "$folder/err" || die "mkdata $bad: no usage: $(cat "$folder/err")"
done
expect_full_disk "$build/workloads/mkdata" --rows 1000

# What was done when: the image, the rows that were read, the frame.
"$program" --json --image 3 --progress 1 "$folder/linear.csv" >"$folder/out" 2>"$folder/err"
jq -es 'map(.done) == ["image", "read", "build"] and .[0].allocated_bytes > 3e6 and
    ([map(.time_ns), map(.processor_ns), map(.allocated_bytes)] | all(. == sort and .[0] < .[2]))' "$folder/err" >/dev/null ||
    die "progress: $(cat "$folder/err")"

# Classes that are kept: the answer is the same, what they hold outlives a full collection.
live() { EDEN_STATS=$folder/stats EDEN_OPTIONS=full_gc_ratio=0,eden_size=1M "$program" --json --image 0 "$@" "$folder/linear.csv"; }
live >"$folder/plain.json"
[[ $(live --keep-class Fraction,NumberParser) == "$(cat "$folder/plain.json")" ]] || die "what is kept changes the answer"
jq -es '.[1].tenured_bytes - .[0].tenured_bytes > 20000 * 12 * (24 + 96) * 0.9' "$folder/stats" >/dev/null ||
    die "what is to be kept is not: $(jq -c .tenured_bytes "$folder/stats")"
for bad in Nonesuch "" "Fraction," "Fraction,Nonesuch" Fractio Fractions "Fraction NumberParser"; do
    expect_error 2 "^dataframe: --keep-class=$bad: .* is no class of this program" --keep-class "$bad" "$folder/linear.csv"
done

# Standard input, the table, help.
[[ $("$program" --json - <"$folder/csv/nasty.csv") == "$("$program" --json "$folder/csv/nasty.csv")" ]] || die "stdin differs"
"$program" "$folder/csv/names.csv" | grep_all -qE '^1 rows, 5 columns$' || die "the table does not show rows and columns"
[[ $("$program" "$folder/csv/nasty.csv" | wc -l) -eq 11 ]] || die "a name breaks the table"
"$program" --help | grep_all -q '^usage: dataframe' || die "--help does not show the usage"

record='record %s \(the header is record 1\)'
# shellcheck disable=SC2059 # the format is ours
at() { printf "$record" "$1"; }
for name in empty mark_only newlines_only; do
    expect_error 1 "bad_$name.csv: is empty: the first record must name" --json "$folder/csv/bad_$name.csv"
done
expect_error 1 "bad_short.csv: $(at 3) has 2 fields where the header has 3" "$folder/csv/bad_short.csv"
expect_error 1 "bad_long.csv: $(at 4) has 3 fields where the header has 2" "$folder/csv/bad_long.csv"
for name in quote_inside after_quote space_after_quote; do
    expect_error 1 "bad_$name.csv: $(at 3) is malformed near field 1: .*put the whole field" "$folder/csv/bad_$name.csv"
done
expect_error 1 "bad_open_quote.csv: $(at 3) is malformed near field 2" "$folder/csv/bad_open_quote.csv"
expect_error 1 "none.csv: can't be opened: No such file" "$folder/none.csv"
expect_error 1 "can't be read: Is a directory" "$folder"
expect_error 2 "usage: dataframe"
expect_error 2 "usage: dataframe" a.csv b.csv
expect_error 2 "unrecognized option" --no-such-option a.csv
EDEN_OPTIONS=max_heap=4M,eden_size=1M expect_error 1 "the heap is exhausted: .+" --json "$folder/linear.csv"
EDEN_OPTIONS=max_heap=4M,eden_size=1M expect_error 1 "the heap is exhausted: .+" --json --image 0 "$folder/linear.csv"
EDEN_OPTIONS=no_such=1 expect_error 1 "the heap can't be made: .*no_such" --json "$folder/linear.csv"
expect_full_disk "$program" --json "$folder/linear.csv"

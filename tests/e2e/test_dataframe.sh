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
        EDEN_OPTIONS=$options "$program" --json --verify "$1" >"$folder/answer.json" ||
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
B=$build scripts/make-dataset "$folder/linear.csv" 20000 7
expect_equal "$folder/linear.csv"
[[ -r $oui ]] || die "$oui is missing: scripts/setup installs it"
expect_equal "$oui"

# The same seed gives the same bytes, another one other bytes.
"$build/workloads/mkdata" --rows 20000 --seed 7 | cmp - "$folder/linear.csv" || die "mkdata is not reproducible"
! "$build/workloads/mkdata" --rows 20000 --seed 8 | cmp -s - "$folder/linear.csv" || die "mkdata ignores its seed"

# Standard input, the table, help.
[[ $("$program" --json - <"$folder/csv/nasty.csv") == "$("$program" --json "$folder/csv/nasty.csv")" ]] || die "stdin differs"
"$program" "$folder/csv/names.csv" | grep -qE '^1 rows, 5 columns$' || die "the table does not show rows and columns"
[[ $("$program" "$folder/csv/nasty.csv" | wc -l) -eq 11 ]] || die "a name breaks the table"
"$program" --help | grep -q '^usage: dataframe' || die "--help does not show the usage"

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
EDEN_OPTIONS=no_such=1 expect_error 1 "the heap can't be made: .*no_such" --json "$folder/linear.csv"
expect_full_disk "$program" --json "$folder/linear.csv"

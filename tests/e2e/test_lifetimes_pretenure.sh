#!/usr/bin/env bash
# edenscope lifetimes --pretenure: the file of a profile names what lives long; a program that reads it bears that old,
# and nothing else, and prints the same; and what the file cannot replace, or no profile covers, is left alone.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
bench=$build/bench/pretenure
frame=$build/workloads/dataframe
names=$folder/names
seen=$folder/seen.json
make --no-print-directory -s B="$build" "$bench"

entries() { grep -v '^#' "$1" || true; }

# births FILE JSON SAMPLES: of the classes that FILE names, as the profile in JSON counted them.
births() {
    python3 - "$@" <<'PYTHON'
import json, sys
named = {line[6:].rstrip("\n") for line in open(sys.argv[1]) if line.startswith("class ")}
assert named
print(sum(row["births"] for row in json.load(open(sys.argv[2]))["classes"] if row["name"] in named))
PYTHON
}

# steady keeps Records and Texts; its garbage does not qualify, nor its table, which is large.
for sampling in all 1/100 bytes=512K; do
    for details in "" --details; do
        expect_status 0 "$scope" lifetimes $details --sampling $sampling --json -o "$seen" --pretenure "$names" -- "$bench" steady
        cp "$folder/out" "$folder/plain"
        grep -q '2 classes and 0 sites' "$folder/err" || die "what was written is not reported: $(cat "$folder/err")"
        entries "$names" | sort | diff - <(printf 'class Record\nclass Text\n') || die "$sampling $details names that"
    done
done
expect_status 0 "$scope" lifetimes --sampling all --json -o "$seen" --pretenure "$names" -- "$bench" steady
wanted=$(births "$names" "$seen")
EDEN_OPTIONS=pretenure=$names EDEN_STATS=$folder/stats "$bench" steady | diff "$folder/plain" - || die "pretenured, it prints something else"
old=$(jq .pretenured_objects "$folder/stats")
[[ $wanted == 2000000 && $old == "$wanted" ]] || die "$old objects born old, $wanted of the classes named"
# By class: of those named every object, of others none (but the table, for its size).
EDEN_OPTIONS=pretenure=$names "$scope" lifetimes --details --sampling 1/10 --view csv -o "$folder/objects.csv" \
    --pretenure "$folder/again" -- "$bench" steady 2>/dev/null >&2
python3 - "$folder/objects.csv" <<'PYTHON' || die "others were born old"
import csv, sys
by_class = {}
for row in csv.DictReader(open(sys.argv[1], newline="")):
    by_class.setdefault(row["class"], set()).add(row["born_old"])
assert by_class["Record"] == by_class["Text"] == {"1"} and by_class["Garbage"] == {"0"}, by_class
PYTHON
# A profile does not know when an object that was born old would have been tenured.
[[ -z $(entries "$folder/again") ]] || die "names without evidence: $(cat "$folder/again")"
echo "what the file names is born old, all of it and nothing else"

# turn keeps its records for half of the run only; nothing qualifies, and the file says so.
expect_status 0 "$scope" lifetimes --sampling all --pretenure "$folder/turn" -- "$bench" turn
[[ -z $(entries "$folder/turn") ]] || die "turn: $(cat "$folder/turn")"
grep -q 'no class or site qualifies' "$folder/turn" || die "an empty file does not say so"
grep -q '^edenscope: .* to allocate old$' "$folder/err" || die "what was written is not said: $(cat "$folder/err")"
sed '1,/^edenscope: .* to allocate old$/d' "$folder/err" | grep -v '^edenscope: ' && die "the table follows what was written"
EDEN_OPTIONS=pretenure=$folder/turn EDEN_STATS=$folder/none "$bench" steady >/dev/null || die "an empty file is refused"
[[ $(jq .pretenured_objects "$folder/none") == 0 ]] || die "objects are born old that nobody named"
# Strings and rows of a data frame live until their columns are built; what parses them does not. Rows and columns are
# Arrays, and some columns are dropped: the site of the rows is named, not the class. Of a tenth it depends on how many
# columns are sampled.
"$build/workloads/mkdata" --rows 60000 >"$folder/data.csv"
expect_status 0 "$scope" lifetimes --sampling all --pretenure "$folder/frame" -- "$frame" --image 0 "$folder/data.csv"
entries "$folder/frame" | sort | diff - <(printf 'class ByteString\nsite DataFrameCsvReader>>readRow\n') ||
    die "dataframe names that"
echo "what dies young is not named"

# Files of others, places that can't be written, and runs in which nothing was profiled.
echo "my own notes" >"$folder/notes"
for bad in "$folder/notes" "$folder" /dev/null "$folder/no/such"; do
    expect_status 1 "$scope" lifetimes --pretenure "$bad" -- "$exercise"
    [[ ! -s $folder/out ]] || die "$bad: the command was started"
    grep -qF "$bad" "$folder/err" || die "$bad is not named: $(cat "$folder/err")"
done
[[ $(cat "$folder/notes") == "my own notes" ]] || die "a file of others was replaced"
expect_status 0 "$scope" lifetimes --sampling all --force --pretenure "$folder/notes" -- "$bench" steady
grep -q '^class Text$' "$folder/notes" || die "--force does not replace"
# shellcheck disable=SC2016
expect_status 1 "$scope" lifetimes --sampling all --pretenure "$folder/late" -- sh -c 'echo mine >"$1"; exec "$2" steady' sh "$folder/late" "$bench"
grep -q 'late: another program has put a file there' "$folder/err" || die "what came meanwhile is not named: $(cat "$folder/err")"
[[ $(cat "$folder/late") == mine ]] || die "a file that came meanwhile was replaced"
cp "$names" "$folder/before"
expect_status 1 "$scope" lifetimes --pretenure "$names" -- true
grep -q 'no heap was profiled' "$folder/err" || die "the lack of a profiled heap is not reported: $(cat "$folder/err")"
diff "$names" "$folder/before" || die "the file was replaced by nothing"
[[ -z $(find "$folder" -name '*.??????' ! -name '*.stats') ]] || die "temporary files are left: $(ls "$folder")"
expect_status 1 "$scope" stat --pretenure "$names" -- true
touch "$folder/same"
expect_status 1 bash -c '"$@" >"$0"' "$folder/same" "$scope" lifetimes --pretenure "$folder/same" -- "$bench" steady
grep -q 'the other output goes to this file' "$folder/err" || die "the program's output goes to the file: $(cat "$folder/err")"
echo "files are replaced whole, and only those that may be"

# Success is reported once the file is there; two outputs are two files.
"$scope" record --lifetimes --sampling all -o "$folder/eden.data" -- "$bench" steady >/dev/null 2>&1
expect_status 0 "$scope" lifetimes -i "$folder/eden.data" --pretenure "$folder/read"
diff <(entries "$folder/read" | sort) <(printf 'class Record\nclass Text\n') || die "a recording names that"
[[ $(grep -c 'read: 2 classes and 0 sites to allocate old' "$folder/err") == 1 ]] || die "what was written is not reported: $(cat "$folder/err")"
# shellcheck disable=SC2016
expect_status 1 sh -c 'exec "$1" lifetimes -i "$2" --pretenure "$3" >/dev/full' sh "$scope" "$folder/eden.data" "$folder/unwritten"
[[ ! -e $folder/unwritten ]] && ! grep -q 'to allocate old' "$folder/err" || die "success is reported without a file: $(cat "$folder/err")"
for source in "-i $folder/eden.data" "-p $$ 0.1"; do
    for name in one read; do
        # shellcheck disable=SC2086
        expect_status 1 "$scope" lifetimes $source -o "$folder/$name" --pretenure "$folder/$name"
        grep -q "$name: the other output goes to this file; name another one" "$folder/err" || die "$(cat "$folder/err")"
    done
    # shellcheck disable=SC2016,SC2086
    expect_status 1 sh -c 'file=$1; shift; exec "$@" --pretenure "$file" >>"$file"' sh "$folder/read" "$scope" lifetimes $source
    grep -q 'read: the other output goes to this file' "$folder/err" || die "$(cat "$folder/err")"
done
[[ $(entries "$folder/read" | wc -l) == 2 && ! -s $folder/one ]] || die "a file that was refused is written to"
echo "success is reported once the file is there"

# A signal to the tool alone, while the file has a name of its own: another user's has, and each on FUSE.
stopped() {
    local tool status=0
    dd if=/dev/zero of="$folder/stalled" bs=4096 count=16 oflag=nonblock 2>/dev/null || true # as much as it takes
    SUDO_UID=65534 "$scope" lifetimes -i "$folder/eden.data" --json --pretenure "$1" >"$folder/stalled" 2>"$folder/err" &
    tool=$!
    until_true "the new file has a name" compgen -G "$1.??????" >/dev/null
    kill -TERM "$tool"
    wait "$tool" || status=$?
    [[ $status == 143 ]] || die "$1: status $status after a signal: $(cat "$folder/err")"
    ! compgen -G "$1.??????" || die "$1: a file is left over"
}
if [[ $EUID == 0 ]]; then
    mkfifo "$folder/stalled"
    exec 6<>"$folder/stalled"
    cp "$folder/read" "$folder/theirs"
    chown 65534 "$folder/theirs"
    stopped "$folder/theirs"
    cmp "$folder/read" "$folder/theirs" || die "the file before is lost"
    # While a view waits for gnuplot.
    mkdir "$folder/fake"
    printf '#!/bin/sh\ncat >/dev/null\necho $$ >%s\nexec sleep 600\n' "$folder/asked" >"$folder/fake/gnuplot"
    chmod +x "$folder/fake/gnuplot"
    SUDO_UID=65534 PATH=$folder/fake:$PATH "$scope" lifetimes --view survival-svg --sampling all \
        --pretenure "$folder/theirs" -- "$build/workloads/micro" survivors --objects 300000 >"$folder/out" 2>"$folder/err" &
    tool=$! status=0
    until_true "gnuplot draws" [ -s "$folder/asked" ]
    children+=("$(cat "$folder/asked")")
    compgen -G "$folder/theirs.??????" >/dev/null || die "the new file has no name of its own: $(cat "$folder/err")"
    kill -TERM "$tool"
    wait "$tool" || status=$?
    [[ $status == 143 ]] || die "status $status after a signal while a view waits: $(cat "$folder/err")"
    ! compgen -G "$folder/theirs.??????" || die "a file is left over while a view waits"
    mkdir "$folder/files" "$folder/mounted"
    if bindfs --no-allow-other "$folder/files" "$folder/mounted" 2>/dev/null; then
        trap 'umount -l "$folder/mounted"; cleanup' EXIT
        stopped "$folder/mounted/new"
    fi
    exec 6>&-
fi
echo "a signal leaves nothing over"

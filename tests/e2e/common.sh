# What the end-to-end tests share; each starts with `. "$(dirname "$0")/common.sh"`. Goes to the project's root; sets
# $build, $scope and $folder, a scratch folder that goes away at the end, as do processes in the background and those
# listed in $children.
# shellcheck shell=bash
# shellcheck disable=SC2034
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build=${B:-build}
scope=$build/bin/edenscope
exercise=$build/tests/exercise
folder=$(mktemp -d)
pipe=$folder.pipe # that nobody writes to
mkfifo "$pipe"
children=()

cleanup() {
    local child
    for child in $(jobs -p) "${children[@]}"; do
        kill "$child" 2>/dev/null || true
    done
    rm -rf "$folder" "$pipe"
}
trap cleanup EXIT

die() {
    echo "$(basename "$0" .sh): $*"
    exit 1
}

# grep at the end of a pipeline: reads all of it. `grep -q` ends at the first match, what still writes then ends by
# SIGPIPE, and pipefail takes that for a failure of the pipeline.
grep_all() {
    local status=0
    grep "$@" || status=$?
    cat >/dev/null
    return "$status"
}

# A test that hangs says where.
trap 'die "ended by a signal in: $BASH_COMMAND; functions were called in lines ${BASH_LINENO[*]}"' TERM

# expect_status STATUS COMMAND...: its output is in $folder/out and $folder/err.
expect_status() {
    local wanted=$1 status=0
    shift
    "$@" >"$folder/out" 2>"$folder/err" || status=$?
    [[ $status == "$wanted" ]] || die "$* gave status $status, not $wanted: $(cat "$folder/err")"
}

# copy_program FROM TO: a copy that the kernel attaches to. If a process dies during detaching, the kernel may keep the
# probes of its file, and take a new file for it once that is deleted (docs/security.md). Such copies are left where they
# are.
copy_program() {
    local number
    for number in 1 2 3 4 5; do
        cp "$1" "$2.$number"
        "$scope" stat -- true "$2.$number" >/dev/null 2>"$2.said" || die "a copy cannot be observed: $(cat "$2.said")"
        grep -q 'the kernel may still hold probes' "$2.said" || break
    done
    rm "$2.said"
    mv -T "$2.$number" "$2"
}

# compare STATS JSON [LEAST]: prints how many figures were compared; fails where one differs, or there are fewer (100).
compare() {
    python3 - "$@" <<'PYTHON'
import json, sys
heaps = {}
for line in open(sys.argv[1]):
    heap = json.loads(line)
    del heap["parameters"]
    heaps[heap.pop("pid"), heap.pop("heap")] = heap
seen = json.load(open(sys.argv[2]))
compared = 0
wrong = [] if seen["lost"] == 0 else ["events were lost"]
for process in seen["processes"]:
    for heap in process["heaps"]:
        own = heaps.pop((process["pid"], heap["heap"]), None)
        if own is None:
            wrong.append(f"heap {heap['heap']} has written nothing")
            continue
        for name, value in own.items():
            compared += 1
            if name not in heap or heap[name] != value or type(heap[name]) is not type(value):
                wrong.append(f"heap {heap['heap']} {name}: {value} by its own count, seen {heap.get(name)}")
wrong += [f"heap {key} was not seen" for key in heaps]
if wrong or compared < int((sys.argv[3:] or [100])[0]):
    sys.exit("\n".join(wrong) or f"only {compared} figures")
print(compared)
PYTHON
}

# switched SWITCH=VALUE COMMAND...: with the tool that has switches (bpf/util/test_switch.h) as $scope.
switched() {
    local scope=$build/tests/edenscope
    local -x "EDENSCOPE_$1"
    "${@:2}"
}

# expect_error STATUS PATTERN ARGUMENT...: $program fails with a message that matches (one line, unless it shows its usage),
# and prints nothing else.
expect_error() {
    expect_status "$1" "$program" "${@:3}"
    [[ ! -s $folder/out ]] || die "${*:3}: wrote to stdout beside failing"
    grep -qE -- "$2" "$folder/err" || die "${*:3}: the message '$(cat "$folder/err")' does not match '$2'"
    [[ $1 == 2 || $(wc -l <"$folder/err") == 1 ]] || die "${*:3}: more than one line: $(cat "$folder/err")"
}

# expect_full_disk COMMAND...: it says that its output cannot be written.
expect_full_disk() {
    expect_status 1 bash -c '"$@" >/dev/full' - "$@"
    grep -q "can't be written" "$folder/err" || die "a full disk is not named"
}

# expect_sum SUM COMMAND...: what it prints has this checksum.
expect_sum() {
    local sum
    sum=$("${@:2}" | md5sum | cut -c-32) || die "${*:2} with EDEN_OPTIONS='${EDEN_OPTIONS:-}': exit status $?"
    [[ $sum == "$1" ]] || die "${*:2} with EDEN_OPTIONS='${EDEN_OPTIONS:-}': the checksum is $sum, not $1"
}

# pause SECONDS: sleeps, without a process of its own.
pause() { read -rt "$1" <>"$pipe" || true; }

# until_true WHAT COMMAND...: waits for it, at most a minute; then says what was written to *.err here.
until_true() {
    local what=$1 i
    shift
    for ((i = 0; i < 3000; i++)); do
        "$@" && return
        pause 0.02
    done
    die "waited in vain: $what"$'\n'"$(tail -n 5 ./*.err 2>/dev/null)"
}

# Goes to the scratch folder; the names of what was built stay right.
enter_folder() {
    build=$(readlink -f "$build") scope=$(readlink -f "$scope") exercise=$(readlink -f "$exercise")
    cd "$folder"
}

# Ends the test, as skipped, where edenscope can't attach.
need_edenscope() {
    local status=0
    "$scope" stat -- true >"$folder/out" 2>"$folder/err" || status=$?
    if [[ $status == 2 ]]; then
        cat "$folder/err"
        echo "kernel programs cannot be loaded here"
        exit 77
    fi
    [[ $status == 0 ]] || die "stat -- true gave status $status: $(cat "$folder/err")"
}

# open_page PAGE: goes to the scratch folder, where workloads and edenscope are what they are to a reader of the page, and
# Python finds doc_examples; $page names it.
open_page() {
    page=$PWD/$1
    mkdir "$folder/build"
    ln -s "$(readlink -f "$build/workloads")" "$folder/build/workloads"
    PATH=$(readlink -f "$build/bin"):$PATH
    export PYTHONPATH=$PWD/tests/e2e
    unset EDEN_OPTIONS
    cd "$folder"
}

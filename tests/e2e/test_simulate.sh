#!/usr/bin/env bash
# edenscope simulate: from one recording, what collections do under other parameters, compared with real runs: scavenges
# within 2%, tenured bytes within 10%, full collections within 10%, counts at least to one; likewise with policy=auto, with
# copied bytes within 5% and the last eden within 5%; a smaller eden than recorded, parameters that are not simulated,
# heaps that come to their limit, and recordings that lack something are refused by name, and nothing is printed.
# (`make bench-simulate` compares the whole grid; docs/edenscope.md says where predictions are less good than that.)
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
enter_folder
"$build/workloads/mkdata" --rows 20000 >data.csv
best="full_gc_ratio=0,grow_headroom=64K,tenure_fill=0,tenure_proportion=0.02"

# record EDEN FILE COMMAND...
record() {
    local eden=$1 file=$2
    shift 2
    expect_status 0 env EDEN_OPTIONS="policy=fixed,eden_size=$eden,$best" "$scope" record --lifetimes=details --sampling all -o "$file" -- "$@"
}

# compare FILE EDENS COMMAND...: every combination, predicted and run.
compare() {
    local file=$1 edens=$2
    shift 2
    expect_status 0 "$scope" simulate --json -i "$file" "eden_size=$edens" full_gc_ratio=0.33,2.5 tenure_proportion=0.1,0.5 grow_headroom=1M
    run_predicted policy=fixed, "$@"
}

# compare_auto FILE WORDS COMMAND...: the same with policy=auto and these parameters.
compare_auto() {
    local file=$1 words=$2
    shift 2
    # shellcheck disable=SC2086
    expect_status 0 "$scope" simulate --json -i "$file" policy=auto $words
    run_predicted '' "$@"
}

# run_predicted PREFIX COMMAND...: runs what was predicted, PREFIX before its options.
run_predicted() {
    python3 - "$@" <<'PYTHON' || die "predictions for $* are off"
import json, os, subprocess, sys

predicted = json.load(open("out"))
prefix, command = sys.argv[1], sys.argv[2:]
bad, tenured, fulls = [], 0, 0
def near(what, a, b, bound, least):
    if abs(a - b) > max(bound * b, least):
        bad.append(f"{at['options']}: {what} {a}, not {b}")
for at in predicted["predictions"]:
    environment = {**os.environ, "EDEN_OPTIONS": f"gc_threads=1,{prefix}{at['options']}", "EDEN_STATS": "stats"}
    if os.path.exists("stats"):
        os.unlink("stats")
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    real = json.loads(open("stats").readline())
    near("scavenges", at["scavenges"], real["scavenges"], 0.02, 1)
    near("fulls", at["full_collections"], real["full_collections"], 0.1, 1)
    near("tenured", at["tenured_bytes"], real["tenured_bytes"], 0.1, 0)
    if not prefix:
        near("copied", at["survived_bytes"], real["survived_bytes"], 0.05, 0)
        near("eden", at["eden_size"], real["eden_size"], 0.05, 0)
    tenured += real["tenured_bytes"] > 0
    fulls += real["full_collections"] > 1
    assert sum(at["full_by_cause"].values()) == at["full_collections"], at
print(len(predicted["predictions"]), "points,", tenured, "tenure,", fulls, "collect in full")
for line in bad:
    print(line)
sys.exit(bool(bad))
PYTHON
}

frame=("$build/workloads/dataframe" data.csv)
record 1M frame.data "${frame[@]}"
compare frame.data 1M,8M "${frame[@]}"
compare_auto frame.data "" "${frame[@]}"
compare_auto frame.data "max_heap=none,128M eden_size=4M" "${frame[@]}"
compare_auto frame.data "full_gc_ratio=0.5" "${frame[@]}"
flock=("$build/workloads/bloc" --boids 100 --frames 600)
record 256K flock.data "${flock[@]}"
compare flock.data 256K,4M,16M "${flock[@]}"
compare_auto flock.data "max_heap=none,64M eden_size=512K" "${flock[@]}" # the program sets eden_size
goats=("$build/workloads/mobidyc" --width 40 --height 40 --goats 400 --wolves 40 --steps 40)
record 256K goats.data "${goats[@]}"
# Between these two lies the case that docs/edenscope.md names: survivors overflow and die soon after; at 1M the tenured
# bytes are off by a third.
compare goats.data 512K,4M,8M "${goats[@]}"
compare_auto goats.data "max_heap=none,64M" "${goats[@]}"

# ---- what the recording says of its own run ----

expect_status 0 "$scope" simulate --json -i frame.data eden_size=1M,2M large_object=512K,1M
jq -e '(.predictions | length) == 4 and .predictions[1].options == "eden_size=1M,large_object=1M" and .heap == 1 and
    (.recorded.full_by_cause | keys) == ["allocation", "limit", "ratio", "request"]' out >/dev/null || die "JSON: $(cat out)"
figures='[.scavenges, .full_collections, .survived_bytes, .tenured_bytes, .old_used, .full_by_cause]'
jq -cS ".recorded | $figures" out >recorded
"$scope" report --json -i frame.data | jq -cS ".processes[0].heaps[0] | $figures" | diff recorded - ||
    die "what is shown as recorded is not what the report says"
expect_status 0 "$scope" simulate -i frame.data
[[ $(grep -cE 'as recorded$|as recorded, simulated$|nothing given$' out) == 3 ]] || die "the table: $(cat out)"

# A recorded limit that was not met changes nothing, holds for predictions, too, and is replaced by another one.
EDEN_OPTIONS=policy=fixed,eden_size=256K,max_heap=64M "$scope" record --lifetimes=details --sampling all -o limited.data -- "${goats[@]}" \
    >out 2>err || die "record: $(cat err)"
expect_status 0 "$scope" simulate --json -i limited.data max_heap=none,64M
jq -e '(.recorded_options | test(",max_heap=64M")) and (.predictions[0] | del(.options)) == (.predictions[1] | del(.options)) and
    ((.recorded.scavenges - .recorded_simulated.scavenges) | fabs) < 3' out >/dev/null || die "a limit that was not met: $(cat out)"

# ---- what is refused ----

# refused WORDS ARGUMENT...: status 1, these words on stderr, nothing on stdout.
refused() {
    local words=$1
    shift
    expect_status 1 timeout 120 "$scope" simulate "$@"
    grep -qF -- "$words" err || die "simulate $* does not say '$words': $(cat err)"
    [[ ! -s out ]] || die "simulate $* prints: $(cat out)"
}
refused 'eden_size=524288: smaller than recorded (1048576)' -i frame.data eden_size=512K
refused 'smaller than recorded' -i frame.data --json eden_size=2M,512K
refused 'max_heap=67108864: the heap comes to this limit' -i frame.data max_heap=64M
refused 'or policy=auto may promote in place; that cannot be predicted' -i frame.data policy=auto max_heap=64M
refused 'choose a larger max_heap, or none' -i limited.data eden_size=1G # no scavenge would come
refused 'eden_size=524288: smaller than recorded (1048576)' -i frame.data policy=auto eden_size=512K
refused 'policy=manual: out of bounds' -i frame.data policy=manual
refused 'stress: this parameter cannot be simulated; choose one of eden_size, full_gc_ratio' -i frame.data stress=1
refused 'edn_size: unknown parameter; choose one of eden_size' -i frame.data edn_size=1M
refused 'eden_size=4Q: out of bounds' -i frame.data eden_size=4Q
refused 'eden_size=: out of bounds' -i frame.data eden_size=2M,
refused 'tenure_criterion=class: cannot be simulated' -i frame.data tenure_criterion=class
refused 'eden_size: must be NAME=VALUE' -i frame.data eden_size
refused 'the recording has no heap with this number' -i frame.data --heap 2
refused 'nonesuch' -i nonesuch
refused 'not a recording' -i data.csv
values=$(seq -s, 1000 1250)
refused 'too many combinations' -i flock.data "tenure_proportion=0.${values//,/,0.}" "tenure_fill=0.${values//,/,0.}"

"$scope" record -o plain.data -- "$exercise" >out 2>err || die "record: $(cat err)"
refused 'heaps; choose one' -i plain.data
refused 'contains no lifetimes' -i plain.data --heap 1
"$scope" record --lifetimes --sampling all -o sums.data -- "$exercise" >out 2>err || die "record: $(cat err)"
refused 'contains sums of lifetimes, not objects' -i sums.data --heap 1
"$scope" record --lifetimes=details --sampling 1/2 -o half.data -- "$exercise" >out 2>err || die "record: $(cat err)"
refused 'lacks objects of the heap' -i half.data --heap 1
EDEN_OPTIONS=policy=fixed,eden_size=256K \
    "$scope" record --lifetimes=details --sampling all -o all.data -- "$exercise" >out 2>err ||
    die "record: $(cat err)"
expect_status 0 "$scope" simulate -i all.data --heap 1 eden_size=1M
refused 'the recorded heap came to its max_heap, which cannot be simulated' -i all.data --heap 3
"$scope" record --lifetimes=details --sampling all -o auto.data -- "$exercise" >out 2>err || die "record: $(cat err)"
refused 'recorded with policy=auto, which cannot be simulated; record with policy=fixed' -i auto.data --heap 2
# One object in place of all, of all bytes: it dies far beyond them; or it is born, and they are, as far.
python3 - <<'PYTHON'
import shutil, sqlite3, struct
for name, allocated, birth, death in ("far", 4096, 10, 1 << 62), ("empty", 1 << 62, 1 << 61, 1 << 62):
    shutil.copy("frame.data", name + ".data")
    db = sqlite3.connect(name + ".data")
    batch = db.execute("SELECT max(batch), max(time_ns), process, heap, heap_id, serial FROM life_batch").fetchone()
    db.execute("DELETE FROM life_batch WHERE kind <> 0")
    record = struct.pack("<IIQ8Q4IQ", 1, 0, allocated, 0, birth, 0, 0, 0, death, 0, 0, 0, 0, 0, 0, 1024)
    db.execute("INSERT INTO life_batch VALUES(?, ?, ?, ?, ?, 4, 1, ?, ?, ?)",
               (batch[0] + 1, *batch[1:5], len(record), record, batch[5]))
    db.execute("UPDATE heap SET allocated_bytes = ?", (allocated,))
    if name == "far":
        db.execute("DELETE FROM event")
    db.commit()
PYTHON
refused 'far.data: the recording is damaged: an object outlives' -i far.data
refused 'empty.data: the recording is damaged: the heap has too few objects' -i empty.data
sqlite3 frame.data "DELETE FROM life_batch WHERE batch = (SELECT max(batch) FROM life_batch WHERE kind = 8)"
refused 'the recording is damaged or incomplete' -i frame.data
echo "what can't be known is refused"

#!/usr/bin/env bash
# Collections by one, two and four threads: what edenscope counts, now and from a recording, is what the heap counts
# (EDEN_STATS) and logs, exactly; and no object's life is lost. The threads are there: the program counts them.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
tests=$PWD/tests/e2e
enter_folder
unset EDEN_SAMPLING
program=$build/tests/parallel

has_threads() { [[ $(cat out) == "$1" ]] || die "$2: $(cat out) threads, not $1"; }
# The log has the collections that the heap counts.
is_logged() {
    jq -s -e --slurpfile stats stats '(map(select(.kind == "scavenge" or .kind == "full")) | length) ==
        ($stats | map(.scavenges + .full_collections) | add)' log >/dev/null || die "$1: EDEN_LOG lacks collections"
}

for options in policy=auto policy=fixed,compat.overflow=scan-order,compactor=planning policy=auto,pause_goal=2; do
    for threads in 1 2 4; do
        export EDEN_OPTIONS=$options,gc_threads=$threads
        rm -f stats log
        EDEN_STATS=$PWD/stats EDEN_LOG=$PWD/log "$scope" stat --json -o seen -- "$program" >out || die "$EDEN_OPTIONS: stat failed"
        has_threads "$threads" "$EDEN_OPTIONS"
        compare stats seen >count || die "$EDEN_OPTIONS: stat differs"
        is_logged "$EDEN_OPTIONS"
        rm -f stats log
        EDEN_STATS=$PWD/stats EDEN_LOG=$PWD/log "$scope" record -o data -- "$program" >out 2>err || die "$EDEN_OPTIONS: record failed: $(cat err)"
        has_threads "$threads" "$EDEN_OPTIONS"
        "$scope" report -i data --json >seen
        compare stats seen >>count || die "$EDEN_OPTIONS: report differs"
        is_logged "$EDEN_OPTIONS"
        "$scope" lifetimes --sampling 1/10 --json -o lives -- "$program" >out || die "$EDEN_OPTIONS: lifetimes failed"
        PYTHONPATH=$tests python3 -c 'import lifetimes_json; lifetimes_json.whole(lifetimes_json.read("lives"))' ||
            die "$EDEN_OPTIONS: lives were lost"
        echo "$EDEN_OPTIONS: $(paste -sd ' ' count) figures equal"
    done
done

#!/usr/bin/env bash
# micro: the checksum of what is alive at the end, in order, whatever the heap does meanwhile; each pattern does to the
# heap what it is for; and the error cases.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

program=$build/workloads/micro
unset EDEN_OPTIONS EDEN_STATS EDEN_LOG

# expect_alive CHECKSUM PATTERN OBJECTS ALIVE LIVE ONE_IN SEED SIZE
expect_alive() {
    local options answer other=remembered_set=object,compat.threshold_bug=1,survivors_to_keep=100
    for options in "" "policy=fixed,eden_size=64K,grow_headroom=64K,full_gc_ratio=0.1,compactor=planning" \
        "eden_size=64K,grow_headroom=64K,large_object=4K,$other"; do
        answer=$(EDEN_OPTIONS=$options "$program" "$2" --objects "$3" --live "$5" --one-in "$6" --seed "$7" --size "$8" \
            --json --verify) || die "$* with '$options': exit status $?"
        [[ $answer == "{\"pattern\": \"$2\", \"objects\": $3, \"alive\": $4, \"checksum\": $1}" ]] ||
            die "$* with '$options': $answer"
    done
}
expect_alive 9684066347295324534 survivors 100000 1000 1000 10 1 64
expect_alive 1787109300339760600 survivors 100000 3000 3000 1 7 40
expect_alive 9553720150863069338 survivors 50 7 1000 7 9223372036854775807 32
expect_alive 10854441123568063632 growth 50000 50000 1 1 1 64
expect_alive 1099511628211 growth 1 1 1 1 1 4096
expect_alive 3908161183202180452 large 100 100 100 1 1 20000
expect_alive 12822117769068101017 large 100 7 7 1 1 1000000
expect_alive 622248814612460352 large 3 3 7 1 1 1000000

# With fixed parameters survivors die young, what grows is tenured, and no large object fits.
figures() { # PATTERN FILTER OPTIONS ARGUMENT...
    EDEN_OPTIONS=policy=fixed${3:+,$3} EDEN_STATS=$folder/stats "$program" "$1" "${@:4}" >"$folder/out"
    jq -e "$2" "$folder/stats" >/dev/null || die "$1: $(cat "$folder/stats")"
    rm "$folder/stats"
}
figures survivors '.scavenges > 10 and .tenured_bytes == 0 and .survived_bytes > 10 * 20000 * 64'
figures growth '.tenured_bytes > 100e6 and .full_by_cause.ratio > 2 and .freed_bytes == 0'
figures large '.large_objects == 100 and .full_by_cause.allocation == 99 and .segments_mapped == 100' \
    grow_headroom=1M --size 2097152
grep -qE '^large: 100 objects, 100 alive at the end, checksum [0-9]+$' "$folder/out" || die "$(cat "$folder/out")"

expect_error 2 "usage: micro"
expect_error 2 "usage: micro" growth large
expect_error 1 "nonesuch: not one of the patterns survivors, growth, large" nonesuch
expect_error 2 "--size=8: must be a whole number from 32 to" growth --size 8
expect_error 2 "--live=0: must be" survivors --live 0
EDEN_OPTIONS=max_heap=32M expect_error 1 "the heap is exhausted: .+" growth
EDEN_OPTIONS=max_heap=32M expect_error 1 "the heap is exhausted: .+" large
EDEN_OPTIONS=no_such=1 expect_error 1 "the heap can't be made: .*no_such" growth
"$program" --help | grep_all -q '^usage: micro' || die "--help does not show the usage"

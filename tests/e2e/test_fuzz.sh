#!/usr/bin/env bash
# Inputs of `make fuzz` run in an ordinary build: those that heap-fuzz writes, and any bytes. With a fault planted in the
# write barrier, such an input fails, is named, and is shrunk to one that fails too, but not without the fault. Seeds
# find the fault as well, in any number of processes.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

fuzz=$build/tests/heap-fuzz

"$fuzz" --corpus "$folder" --first 1 --seeds 20 --events 400
[[ $(stat -c %s "$folder"/seed-* | sort -u) == $((1 + 400 * 17)) ]] || die "inputs should have 17 bytes an event"
for seed in 1 2 3; do
    expect_status 0 "$fuzz" --input "$folder/seed-$seed"
    grep -q "seed-$seed: 400 events with 'eden_size=.*': no fault" "$folder/out" || die "says: $(cat "$folder/out")"
done
: >"$folder/empty"
head -c 3000 "$fuzz" >"$folder/bytes"
expect_status 0 "$fuzz" --input "$folder/empty"
expect_status 0 "$fuzz" --input "$folder/bytes"
expect_status 2 "$fuzz" --input "$folder/missing"
# Found by AFL++: policy=auto, and a semispace that the system had refused what it wanted took it beyond max_heap.
base64 -d >"$folder/refused" <<'INPUT'
PDXgYM4wrH03WJdgbRGeW+pbABHBSi6f34cMLnRSZ1P+rooF8NAkFH1RZahL1H+AQuQpPgcwhuoZ2QMEygV9XNDbTsSVAPOKikk32+1LGRn6XZ
lP1Z4aTiZ4esQwM/kUABA60cnYDgARwUoun9+HDC50UmdT/q6KBcTbaAu8Gz4pD/jvIA9kzCo=
INPUT
expect_status 0 "$fuzz" --input "$folder/refused"

# The planted fault: stores into slot 1 of old objects are not remembered.
sed 's/^        remembered_add(heap, object, EDEN_REMEMBER_STORE);/        if (index != 1) remembered_add(heap, object, EDEN_REMEMBER_STORE);/' \
    runtime/young/remembered.c >"$folder/remembered.c"
[[ $(diff runtime/young/remembered.c "$folder/remembered.c" | grep -c '^>') -eq 1 ]] ||
    die "the write barrier is not where this test looks"
mapfile -t objects < <(find "$build/tests/fuzz" -maxdepth 1 -name '*.o' ! -name target.o)
gcc -std=gnu17 -O2 -D_GNU_SOURCE -Iprobes -Iruntime/include -Iruntime \
    -c "$folder/remembered.c" -o "$folder/remembered.o"
gcc -o "$folder/heap-fuzz" "${objects[@]}" "$folder/remembered.o" \
    "$build/lib/libedenscope.a" "$build/lib/libeden-internals.a" \
    -Wl,--wrap=eden_probe_batch -lcmocka -lm -lpthread

# shorter FILE: its shrunk form, which the planted build fails, and the right build does not.
shorter() {
    grep -q "^again: heap-fuzz --input $1.shrunk$" "$folder/out" || die "no shorter input: $(cat "$folder/out")"
    [[ $(stat -c %s "$1.shrunk") -lt $(($(stat -c %s "$1") / 10)) ]] || die "$1.shrunk is hardly shorter than $1"
    cp "$folder/out" "$folder/said"
    expect_status 1 "$folder/heap-fuzz" --input "$1.shrunk"
    expect_status 0 "$fuzz" --input "$1.shrunk"
}

found=0
for file in "$folder"/seed-?; do
    status=0
    "$folder/heap-fuzz" --input "$file" >"$folder/out" 2>&1 || status=$?
    [[ $status -ne 0 ]] || continue
    [[ $status -eq 1 ]] || die "$file gave status $status: $(cat "$folder/out")"
    grep -q "^$file fails: .*with EDEN_OPTIONS='eden_size=.*Again: heap-fuzz --input $file$" "$folder/out" ||
        die "$file is not named: $(cat "$folder/out")"
    grep -qE '^event [0-9]+: |signal 11' "$folder/out" || die "it does not say what is wrong: $(cat "$folder/out")"
    shorter "$file"
    found=$((found + 1))
    break
done
[[ $found -eq 1 ]] || die "no input found the planted fault"

export EDEN_OPTIONS=eden_size=64K
for jobs in 1 2; do
    expect_status 1 "$folder/heap-fuzz" --first 1 --seeds 20 --jobs "$jobs"
    again=$(sed -n "s/^seed [0-9]* fails: .*Again: EDEN_OPTIONS='eden_size=64K' heap-fuzz //p" "$folder/out")
    [[ $(wc -l <<<"$again") -eq 1 && -n $again ]] || die "not one seed is named: $(cat "$folder/out")"
    # shellcheck disable=SC2086
    expect_status 1 "$folder/heap-fuzz" $again
    # shellcheck disable=SC2086
    expect_status 0 "$fuzz" $again
done
echo "the planted fault was shrunk to $(sed -n 's/^shrunk to \([0-9]*\) events.*/\1/p' "$folder/said") events"

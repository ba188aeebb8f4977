# For tests that run bpftrace: to be sourced, after common.sh.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154
shared=$build/tests/exercise-shared
library=$build/lib/libeden.so

# Ends the test, as skipped, where bpftrace can't trace.
need_bpftrace() {
    if ! command -v bpftrace >/dev/null; then
        echo "bpftrace is not installed"
        exit 77
    fi
    if [[ $EUID -ne 0 ]]; then
        echo "bpftrace needs root"
        exit 77
    fi
    if ! timeout 120 bpftrace -e 'BEGIN { exit(); }' >"$folder/obstacle" 2>&1; then
        echo "bpftrace can't run here: $(tail -n 1 "$folder/obstacle")"
        exit 77
    fi
}

# traced OUTPUT ARGUMENT...: bpftrace with its own output in OUTPUT, everything else in OUTPUT.log.
traced() {
    timeout -s INT 300 bpftrace -o "$1" "${@:2}" >"$1.log" 2>&1 </dev/null ||
        die "bpftrace ${*:2} fails: $(cat "$1.log")"
    if grep -v RLIMIT_MEMLOCK "$1.log" | grep_all -q ERROR; then
        die "bpftrace ${*:2}: $(cat "$1.log")"
    fi
}

# traced_late OUTPUT PROGRAM ARGUMENT...: starts PROGRAM --wait, attaches bpftrace to it with PID in the arguments
# replaced, and lets it go once the probes are attached.
traced_late() {
    local output=$1 program=$2 arguments=() argument pid tracer
    # Of an earlier call: what it says would be taken for what this one says, which has not begun.
    rm -f "$folder/go" "$output" "$output.log" "$output.program"
    mkfifo "$folder/go"
    "$program" --wait <"$folder/go" >"$output.program" 2>&1 &
    pid=$!
    exec 7>"$folder/go"
    for argument in "${@:3}"; do
        arguments+=("${argument//PID/$pid}")
    done
    until_line ready "$output.program" || die "$program does not get ready: $(cat "$output.program")"
    # What bpftrace's own tests use to learn that everything is attached.
    __BPFTRACE_NOTIFY_PROBES_ATTACHED=1 timeout -s INT 300 bpftrace -o "$output" "${arguments[@]}" \
        >"$output.log" 2>&1 7>&- </dev/null &
    tracer=$!
    until_line __BPFTRACE_NOTIFY_PROBES_ATTACHED "$output" "$output.log" ||
        die "bpftrace ${arguments[*]} does not attach: $(cat "$output.log")"
    echo go >&7
    exec 7>&-
    wait "$pid" || die "$program fails: $(cat "$output.program")"
    # With -p, bpftrace ends with the process; without, it waits for Ctrl-C, which timeout passes on.
    [[ " ${arguments[*]} " == *" -p "* ]] || kill -INT "$tracer"
    wait "$tracer" || die "bpftrace ${arguments[*]} fails with status $?: $(cat "$output.log")"
    sed -i '/^__BPFTRACE_NOTIFY/d' "$output"
}

# until_line LINE FILE...: waits for a line of that text in one of the files.
until_line() {
    local i
    for ((i = 0; i < 300; i++)); do
        grep -qsxF -- "$1" "${@:2}" && return
        sleep 0.1
    done
    return 1
}

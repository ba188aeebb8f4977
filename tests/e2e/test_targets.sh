#!/usr/bin/env bash
# However a program is built, started and placed, `stat`, `record`, `export` and `top` of it say what EDEN_STATS says.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

[[ $EUID == 0 ]] || { echo "takes root"; exit 77; }
need_edenscope
tests=$PWD/tests/e2e
shared=$(readlink -f "$build/tests/exercise-shared") library=$(readlink -f "$build/lib/libeden.so.1")
giveback=$(readlink -f "$build/tests/giveback")
enter_folder
export PYTHONPATH=$tests EDEN_STATS=$folder/own

# attach ARGUMENT...: the four tools, with these arguments. Sets $tools.
attach() {
    "$scope" stat -v --json -o stat.json "$@" 2>stat.err &
    tools=($!)
    "$scope" record -v -o target.data "$@" 2>record.err &
    tools+=($!)
    "$scope" export --listen 127.0.0.1:0 "$@" 2>export.err &
    tools+=($!)
    /usr/bin/python3 "$tests/top_figures.py" "$scope" "$@" >top.out 2>&1 &
    top=$!
    until_true "stat is attached" grep -q 'attached in' stat.err
    until_true "record is attached" grep -q 'attached in' record.err
    until_true "export serves" grep -q 'figures are at' export.err
    until_true "top observes" test -e top.ready
}

# start COMMAND...: a program with its input from `line`; sets $program.
start() {
    rm -f said
    mkfifo line
    "$@" <line >said &
    program=$!
    exec 7>line
    rm line
}

is_ready() { until_true "the program is ready" grep -qsE 'ready|grown' said; }

# finish [LATE]: the program of process $target does its work and ends; what the tools say of it is right.
finish() {
    printf 'go\ngo\n' >&7 # one program waits for two lines
    exec 7>&-
    wait "$program" || die "$what: the program failed: $(cat said)"
    sed "s/\"pid\": *1,/\"pid\": $target,/" own >named
    mv named own
    echo "$target" >target
    curl -sS --fail --max-time 20 "$(sed -n 's/.*figures are at \(.*\)/\1/p' export.err)" -o text
    python3 "$tests/export_figures.py" --ended "$@" own text >differ 2>&1 || die "$what: export: $(cat differ)"
    touch ended
    wait "$top" || die "$what: top: $(cat top.out)"
    if [[ ${keeper:-} ]]; then
        exec 8>&-
        wait "$keeper"
    else
        kill -INT "${tools[@]}"
    fi
    wait "${tools[@]}" || die "$what: one of them failed: $(cat ./*.err)"
    compare own stat.json $least >differ 2>&1 || die "$what: stat: $(cat differ)"
    "$scope" report --json -i target.data >report.json
    compare own report.json $least >differ 2>&1 || die "$what: record: $(cat differ)"
    echo "$what: $(cat differ) figures of each are right"
    rm -f own target ended top.ready ./*.err
}

# Observes a program that is ready; beside another one, so that the tools go on when it has ended.
observe() {
    mkfifo other
    "$build/tests/children" stay <other >other.out 2>&1 &
    keeper=$!
    exec 8>other
    rm other
    until_true "the other one is ready" grep -q ready other.out
    attach -p "$target,$keeper"
    finish "$@"
}

# ---- by how it is built -----------------------------------------------------------------------------------------------

least=100
copy_program "$exercise" static
strip -o stripped static
mkdir bin lib
cp "$shared" bin/shared
cp "$library" lib/libeden.so.1
for what in static stripped bin/shared; do
    start "./$what" --wait 1
    target=$program
    is_ready
    observe
done

# ---- by when it is started --------------------------------------------------------------------------------------------

what="started and at work before"
least=60 # it has one heap
start "$giveback"
target=$program
is_ready
observe --late

what="started after"
least=100
unset keeper
copy_program "$exercise" later
attach -n later
start ./later --wait 1
target=$program
finish

# ---- by where it is ---------------------------------------------------------------------------------------------------

what=deleted
copy_program "$exercise" deleted
start ./deleted --wait 1
target=$program
is_ready
rm deleted
observe

if unshare -p -f --mount-proc true 2>/dev/null; then
    what="in other namespaces"
    start unshare -p -f -n --mount-proc ./static --wait 1
    is_ready
    target=$(tr -d ' ' <"/proc/$program/task/$program/children")
    observe
fi

#!/usr/bin/env bash
# Debian's `trace` and `argdist` of bcc see each scavenge, with the arguments that the heap counts. They compile against
# headers of a kernel: those of Debian's will do, whichever kernel runs, for such a program reads nothing of the kernel.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../e2e/common.sh"

headers=$(ls -d /usr/src/linux-headers-*-amd64 | tail -n 1)
common=$(ls -d /usr/src/linux-headers-*-common | tail -n 1)
enter_folder
copy_program "$build/tests/children" "$folder/children"
cat >traced <<'SCRIPT'
set -eu
export PYTHONUNBUFFERED=1
mount -t tmpfs none /lib/modules
mkdir "/lib/modules/$(uname -r)"
ln -s "$1" "/lib/modules/$(uname -r)/build"
ln -s "$2" "/lib/modules/$(uname -r)/source"
trace-bpfcc -p "$3" "u:$4:scavenge__done \"scavenge %d, %d\", arg2, arg12" >trace 2>trace.err &
trace=$!
argdist-bpfcc -p "$3" -i 1 -C "u:$4:scavenge__done():u64:arg2" >argdist 2>argdist.err &
argdist=$!
trap 'kill -INT $trace $argdist' EXIT
touch begun
until [ -e enough ]; do sleep 0.1; done
SCRIPT
mkfifo line
./children stay <>line >said 2>begun.err &
program=$!
until_true "the program is ready" grep -q ready begun.err
unshare -m bash traced "$headers" "$common" "$program" "$folder/children" &
tracer=$!
exec 5<>line
are_attached() { grep -q 'TID' trace && grep -q '^\[' argdist; } # they raise semaphores before they compile
until_true "both are attached" are_attached
echo >&5
has_all() { [[ $(grep -c ' scavenge [0-9]' trace) -gt 0 ]] && grep -q 'arg2 = ' argdist; }
until_true "both have printed" has_all
echo >&5
wait "$program"
made=$(awk 'NF == 4 { print $2 }' said)
all_seen() { [[ $(grep -o ' scavenge [0-9]*' trace | awk '{ print $2 }' | sort -n | xargs) == "$(seq "$made" | xargs)" ]]; }
until_true "trace has seen each of $made: $(cat trace trace.err)" all_seen
all_counted() { [[ $(grep -o '1 *arg2 = [0-9]*' argdist | awk '{ print $4 }' | sort -nu | xargs) == "$(seq "$made" | xargs)" ]]; }
until_true "argdist has counted each: $(cat argdist argdist.err)" all_counted
touch enough
wait "$tracer" || true
echo "trace and argdist see each of $made scavenges"

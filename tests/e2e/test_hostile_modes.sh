#!/usr/bin/env bash
# The hostile process itself: each mode lays its trick, as an ordinary user's process, and ends in time; nothing is left
# of it. The mode `exec read` becomes another program as soon as its memory is read.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

[[ $EUID -eq 0 ]] || { echo "takes root"; exit 77; }
hostile=$build/tests/hostile
chmod 777 "$folder"
mkdir -m 777 "$folder/names"

modes=(honest headless threads lock cycle endless classes 'family 3 3' lengths uffd 'fuse header' 'fuse file' 'fuse open' overlay "cold $folder" 'exec write' 'exec read' 'exec read 1 fuse'
    heaps churn define 'forks 100' 'groups 10' exit handover semaphore backwards batches 'elf overlap' 'elf many' 'elf symbols' identity maps names "names $folder/names")
"$hostile" --list | cut -d ' ' -f 1 | sort >"$folder/listed"
printf '%s\n' "${modes[@]%% *}" victim | sort -u | diff "$folder/listed" - || die "not every mode is tried here"

has_begun() { grep -q ready "$folder/$1.out" || ! kill -0 "${children[$1]}" 2>/dev/null; }
# begin I: the mode with this number; its trick is laid.
begin() {
    : >"$folder/$1.out"
    # shellcheck disable=SC2086
    "$hostile" --seconds 600 --user 65534 ${modes[$1]} >"$folder/$1.out" 2>"$folder/$1.err" &
    children[$1]=$!
    until_true "${modes[$1]} is ready" has_begun "$1"
    grep -q ready "$folder/$1.out" || grep_all -q 'not allowed here' "$folder/$1.err" || die "${modes[$1]}: $(cat "$folder/$1.err")"
    # `identity` ends by itself: what has ended is nobody's.
    [[ $(stat -c %u "/proc/${children[$1]}" 2>/dev/null || echo 65534) == 65534 ]] || die "${modes[$1]} is still root's"
}

# A read of a missing page of the process waits until the process is another program. (Through /proc/PID/mem
# such a read fails at once.)
cat >"$folder/read.py" <<'EOT'
import ctypes, re, sys
class Part(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]
pid = int(sys.argv[1])
page = ctypes.create_string_buffer(4096)
for start, end in re.findall("^([0-9a-f]+)-([0-9a-f]+) rw-p", open(f"/proc/{pid}/maps").read(), re.M):
    if int(end, 16) - int(start, 16) > 1 << 24:
        continue  # not of the program but of the address sanitizer, which maps terabytes
    for at in range(int(start, 16), int(end, 16), 4096):
        ctypes.CDLL(None).process_vm_readv(
            pid, ctypes.byref(Part(ctypes.addressof(page), 4096)), 1, ctypes.byref(Part(at, 4096)), 1, 0)
EOT
# Each is read at once, before others take the CPUs: its FUSE file is served for ten seconds.
for i in "${!modes[@]}"; do
    [[ ${modes[i]} == 'exec read'* ]] || continue
    begin "$i"
    if [[ ! -s $folder/$i.err ]]; then
        python3 "$folder/read.py" "${children[i]}" || die "reading ${modes[i]}"
        until_true "${modes[i]} became another program" grep -q victim "$folder/$i.out"
        ! grep -q 'nobody waits' "$folder/$i.out" || die "${modes[i]}: nobody waited for the page"
    fi
done

for i in "${!modes[@]}"; do
    [[ ${modes[i]} == 'exec read'* ]] || begin "$i"
done

"$hostile" --seconds 1 --user 65534 honest >/dev/null &
status=0
wait $! || status=$?
[[ $status -eq 142 ]] || die "it should end by itself, not with status $status"
for child in "${children[@]}"; do
    kill -9 "$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
done

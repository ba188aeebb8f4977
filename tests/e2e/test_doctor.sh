#!/usr/bin/env bash
# edenscope doctor: what it says works does, and what is taken away is missed, by name and with what to do.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
expect_status 0 "$scope" doctor
for what in 'kernel types' lockdown 'stat, record, tune' attaching children lifetimes 'other users' /proc; do
    grep -Eq "^  (ok|limited) +$what " "$folder/out" || die "no $what: $(cat "$folder/out")"
done
grep -q "^All commands work here" "$folder/out" || die "$(cat "$folder/out")"
# What `list` may not look into is no secret here: both name the first.
expect_status 0 "$scope" list
refused=$(sed -nE 's/.*could not inspect (process [0-9]+|[0-9]+ processes \(the first is process [0-9]+\));.*/\1/p' "$folder/err")
refused=${refused/ processes/}
expect_status 0 "$scope" doctor
if [[ $refused ]]; then
    grep -qF "observable but for $refused:" "$folder/out"
else
    grep -qE '^  (ok       other users|limited  other users +[0-9]+ processes did not answer)' "$folder/out" # if busy
fi || die "list is refused '$refused': $(cat "$folder/out")"
expect_status 0 "$scope" doctor --json
python3 - "$folder/out" <<'PYTHON'
import json, sys
seen = json.load(open(sys.argv[1]))
assert all(seen[key] for key in ("version", "libbpf", "kernel"))
verdicts = {check["check"]: check["verdict"] for check in seen["checks"]}
assert verdicts["lifetimes"] == verdicts["stat, record, tune"] == "ok", verdicts
PYTHON
echo "what works is said to"

# fails STATUS WHAT WHY COMMAND...: the line of WHAT, as not ok.
fails() {
    local status=$1 what=$2 why=$3
    shift 3
    expect_status "$status" "$@"
    grep -E "^  (fails|limited) +$what" "$folder/out" | grep_all -q -- "$why" || die "$what: $(cat "$folder/out")"
}

cp "$scope" "$folder/edenscope"
chmod 755 "$folder" "$folder/edenscope"
fails 2 'stat, record, tune' 'CAP_BPF is missing' setpriv --reuid 65534 --clear-groups "$folder/edenscope" doctor
fails 2 'other users' 'CAP_SYS_PTRACE' setpriv --reuid 65534 --clear-groups "$folder/edenscope" doctor
fails 2 'stat, record, tune' 'CAP_PERFMON is missing' \
    setpriv --bounding-set -sys_admin,-perfmon --inh-caps -all "$scope" doctor
fails 0 'ulimit -n' '100 open files' prlimit --nofile=100 "$scope" doctor
fails 0 attaching 'probe by probe' env EDENSCOPE_NO_MULTI=1 "$build/tests/edenscope" doctor
fails 0 children 'may be missed' env EDENSCOPE_NO_DESCENT=1 "$build/tests/edenscope" doctor
fails 0 'causes of pauses' 'page faults is unknown' env EDENSCOPE_NO_FAULTS=1 "$build/tests/edenscope" doctor
fails 2 'kernel types' 'CONFIG_DEBUG_INFO_BTF' unshare --mount --propagation private sh -c "mount -t tmpfs none /sys/kernel/btf && exec '$scope' doctor"
echo 'none integrity [confidentiality]' >"$folder/lockdown"
[[ ! -d /sys/kernel/security ]] || fails 0 lockdown 'lockdown=none' unshare --mount --propagation private sh -c "mount -t tmpfs none /sys/kernel/security && cp '$folder/lockdown' /sys/kernel/security && exec '$scope' doctor"
fails 2 lifetimes 'kernel types\|vmlinux' unshare --mount --propagation private sh -c "mount -t tmpfs none /sys/kernel/btf && exec '$scope' doctor"
echo "what is missing is named"

expect_status 1 "$scope" doctor --csv
echo "mistakes are named"

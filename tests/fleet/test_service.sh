#!/usr/bin/env bash
# The units of scripts/systemd: systemd has no objection, export works as an ordinary user with exactly their capabilities
# and misses each that is taken away; and under a real systemd, with all of their restrictions, both have the figures that
# the observed unit counts itself, and the one that is of this unit ends, comes and restarts with it.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../e2e/common.sh"

[[ $EUID == 0 ]] || { echo "takes root"; exit 77; }
need_edenscope
units=$PWD/scripts/systemd alone=$PWD/tests/fleet/systemd_alone.sh
export PYTHONPATH=$PWD/tests/e2e
giveback=$(readlink -f "$build/tests/giveback")
enter_folder
chmod 755 .
mkdir -p alone/units
cp "$scope" "$giveback" alone
for name in edenscope-export edenscope-export@; do
    sed 's|/usr/bin/edenscope|/mnt/edenscope|' "$units/$name.service.in" "$units/export-rights.in" >"alone/units/$name.service"
done
sed -i 's|:9464|:9465|' alone/units/edenscope-export.service

# ---- capabilities, without systemd ----

read -r capabilities < <(sed -n 's/^CapabilityBoundingSet=//p' "$units/export-rights.in")
[[ $(sed -n 's/^AmbientCapabilities=//p' "$units/export-rights.in") == "$capabilities" ]] || die "the two sets of capabilities differ"

# exactly CAPABILITY...: export of what "${selected[@]}" says with these alone, as a user of its own; its messages are in err.
exactly() {
    local set=-all name
    for name; do
        name=${name#CAP_}
        set+=,+${name,,}
    done
    : >err # of the one before
    setpriv --reuid 65532 --regid 65532 --clear-groups --no-new-privs --bounding-set "$set" --inh-caps "$set" \
        --ambient-caps "$set" ./alone/edenscope export --listen 127.0.0.1:0 "${selected[@]}" 2>err &
    tool=$!
}

serves() { grep -q 'figures are at' err; }
has_heap() {
    curl -sS --fail "$(sed -n 's/.*figures are at //p' err)" | grep_all -q '^eden_heaps{command="giveback".*user="65533".*} 1$'
}
# Without a message: the heap would have been found by then.
is_missed() { grep -q 'is missing\|needs CAP_' err || { serves && pause 5 && ! has_heap; }; }

# agree: the figures at $1 are the heap's own.
agree() {
    curl -sS --fail --max-time 20 "$1" -o text || die "no answer from $1"
    python3 - "$2" <<'PYTHON'
import json, sys
from metrics import samples
own = json.loads(open(sys.argv[1]).readline())
found = {name: value for (name, _), value in samples(open("text").read()).items()}
assert int(found["eden_scavenges_total"]) == own["scavenges"], (found, own)
assert int(found["eden_full_collections_total"]) == own["full_collections"], (found, own)
assert round(float(found["eden_gc_seconds_total"]) * 1e9) == own["gc_ns"], (found, own)
PYTHON
}

mkfifo line
: >said
setpriv --reuid 65533 --regid 65533 --clear-groups ./alone/giveback <line >said &
target=$!
exec 7>line
until_true "it has grown" grep -q grown said
for which in -a -p; do
    selected=("$which")
    [[ $which == -a ]] || selected+=("$target")
    # shellcheck disable=SC2086 # words
    for missing in $capabilities; do
        exactly ${capabilities/$missing/}
        until_true "$missing is missed" is_missed
        kill "$tool" 2>/dev/null || true
        wait "$tool" || true
    done
    # shellcheck disable=SC2086
    exactly $capabilities
    until_true "it serves" serves
    ! grep -q 'is missing' err || die "something is missing: $(cat err)"
    until_true "the heap is there" has_heap
    kill "$tool"
    wait "$tool" || die "export gave status $?: $(cat err)"
done
echo >&7
until_true "it has dropped" grep -q dropped said
echo >&7
exec 7>&-
wait "$target" || true
echo "these capabilities do, and none of them fewer"

# ---- all of it, under systemd ----

cat >alone/units/myapp.service <<'UNIT'
[Service]
User=daemon
PrivateTmp=yes
Environment=EDEN_STATS=/mnt/own
ExecStartPre=/bin/cp /mnt/giveback /tmp
ExecStart=/tmp/giveback
StandardInput=file:/mnt/line
StandardOutput=append:/mnt/said
UNIT
if command -v systemd-analyze >path; then
    systemd-analyze verify --man=no alone/units/myapp.service alone/units/edenscope-export@myapp.service \
        alone/units/edenscope-export.service 2>&1 |
        grep -v 'is not executable' >objections || true
    [[ ! -s objections ]] || die "systemd: $(cat objections)"
    echo "systemd has no objection"
fi
cat >alone/script <<'SCRIPT'
set -euo pipefail
address=http://127.0.0.1:9464/metrics all=http://127.0.0.1:9465/metrics
until_true() {
    local i
    for ((i = 0; i < 1000; i++)); do
        "$@" && return
        sleep 0.02
    done
    echo "waited in vain: $*" >&2
    systemctl status --no-pager myapp edenscope-export@myapp edenscope-export >&2 || true
    exit 1
}
process() { systemctl show --property=MainPID --value "$1"; }
serves() { curl -s --fail --max-time 5 "${2:-$address}" -o "$1" && grep -q '^eden_heaps{.*} 1$' "$1"; }
observes() { grep -qx "MainPID=$(process myapp)" /run/edenscope-export/myapp/process && serves another; }
has_ended() { [[ $(systemctl is-active "$1") == inactive ]]; }
export -f serves process

exec 7<>line
systemctl start edenscope-export
until_true curl -s --fail --max-time 5 "$all" -o empty
systemctl start myapp
until_true grep -q grown said
systemctl start edenscope-export@myapp
until_true serves early
until_true serves early "$all"
for unit in edenscope-export@myapp edenscope-export; do
    cat "/proc/$(process "$unit")/status"
done >status
echo >&7
until_true grep -q dropped said
serves text
serves all-text "$all"
systemctl stop edenscope-export
[[ $(systemctl show --property=Result --value edenscope-export) == success ]]
echo >&7
until_true has_ended myapp
until_true has_ended edenscope-export@myapp

systemctl enable --runtime edenscope-export@myapp
systemctl start myapp
until_true observes
before=$(process edenscope-export@myapp)
systemctl restart myapp
until_true observes
[[ $before != "$(process edenscope-export@myapp)" ]]
systemctl kill --signal=KILL "edenscope-export@myapp"
until_true observes
systemctl stop myapp
until_true has_ended edenscope-export@myapp
echo over
SCRIPT
: >alone/said
: >alone/own
chmod 666 alone/said alone/own
mkfifo alone/line
status=0
"$alone" alone || status=$?
if [[ $status == 77 ]]; then
    echo "there is no cgroup2 to write to: the unit did not run under systemd"
    exit 77
fi
[[ $status == 0 ]] && grep -qx over alone/out ||
    die "under systemd: $(tail -n 30 alone/log alone/out alone/err 2>&1)"
agree "file://$folder/alone/text" alone/own
agree "file://$folder/alone/all-text" alone/own
for line in 'CapEff:.*0000000000000000' 'NoNewPrivs:.*1' 'Seccomp:.*2'; do
    [[ $(grep -c "^$line\$" alone/status) == 2 ]] || die "no $line: $(cat alone/status)"
done
! grep -q '^Uid:.*[[:space:]]0[[:space:]]' alone/status || die "it runs as root"
echo "under systemd both have the unit's figures, and the one that is of it ends, comes and restarts with it"

#!/usr/bin/env bash
# A program under a container's seccomp profile, that of Debian's container tools, lives while it is observed from its
# start, attached to while it runs, asked for lifetimes and for a histogram, and its figures are exact: its probes trap, and
# make no system call. (Return probes do, since Linux 6.11: until 6.13 a filter that did not know the call ended the process.)
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
enter_folder
profile=/usr/share/containers/seccomp.json

# contain PROGRAM...: without capabilities. Other calls than those of the profile end the program.
cat >contain <<'PYTHON'
#!/usr/bin/python3
import json, os, sys
import seccomp
profile = json.load(open("/usr/share/containers/seccomp.json"))
filter = seccomp.SyscallFilter(seccomp.KILL_PROCESS)
COMPARE = {f"SCMP_CMP_{name}": getattr(seccomp, name) for name in ("NE", "LT", "LE", "EQ", "GE", "GT", "MASKED_EQ")}
rules = 0
for group in profile["syscalls"]:
    arches = group.get("includes", {}).get("arches", ["amd64"])
    if group["action"] != "SCMP_ACT_ALLOW" or group.get("includes", {}).get("caps") or "amd64" not in arches:
        continue
    arguments = [seccomp.Arg(arg["index"], COMPARE[arg["op"]], arg["value"], arg.get("valueTwo", 0))
                 for arg in group.get("args") or []]
    for name in group["names"]:
        try:
            filter.add_rule(seccomp.ALLOW, name, *arguments)
            rules += 1
        except (RuntimeError, ValueError):
            pass  # a call of another machine
assert rules > 200, rules
filter.load()
os.execvp(sys.argv[1], sys.argv[1:])
PYTHON
chmod +x contain
[[ -r $profile ]] || die "$profile is not there"
expect_status 0 ./contain true
expect_status 159 bash -c "./contain /usr/bin/python3 -c 'import ctypes; ctypes.CDLL(None).syscall(321)'; exit \$?" # bpf: SIGSYS
echo "the filter ends a process that makes another call"

EDEN_STATS=own expect_status 0 "$scope" stat --json -o seen.json -- ./contain "$exercise" 3
echo "from its start: $(compare own seen.json) figures are exact"

mkfifo line
./contain "$exercise" --wait <>line >ready 2>program.err &
program=$!
until_true "the program is ready" grep -q ready ready
"$scope" stat -v --json -o late.json -p "$program" 2>attached &
tool=$!
until_true "stat is attached" grep -qs 'attached in' attached
"$scope" lifetimes -p "$program" -v >lifetimes 2>lifetimes.err &
lifetimes=$!
until_true "lifetimes is attached" grep -qs 'attached in' lifetimes.err
"$scope" histo -p "$program" -v >histo 2>histo.err &
histo=$!
until_true "histo is attached" grep -qs 'attached in' histo.err
kill -0 "$program" || die "the program has ended while it is observed: $(cat program.err)"
echo >line
status=0
wait "$program" || status=$?
[[ $status == 0 ]] || die "the program ended with status $status: $(cat program.err)"
wait "$tool" "$lifetimes" "$histo" || die "a command failed: $(cat attached lifetimes.err histo.err)"
[[ $(jq '[.processes[].heaps[].scavenges] | add' late.json) -gt 0 ]] || die "no scavenge was seen: $(cat late.json)"
grep -q 'deaths' lifetimes || die "no lifetimes were seen: $(cat lifetimes lifetimes.err)"
grep -q '%' histo || die "no classes were seen: $(cat histo histo.err)"
echo "attached while it runs, it lives"

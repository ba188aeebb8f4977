#!/usr/bin/env bash
# edenscope export: what a scraper gets is well-formed in both formats, and is exactly what the programs count themselves,
# of those that have ended, too; strangers' requests neither stop it nor others.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
tests=$PWD/tests/e2e
giveback=$(readlink -f "$build/tests/giveback")
hostile=$(readlink -f "$build/tests/hostile") gun=$(readlink -f "$build/tests/probe_gun")
library=$(readlink -f "$build/lib/libeden.so")
enter_folder
export PYTHONPATH=$tests

# begin ARGUMENT...: starts the export at a free port, its input from `line`; sets $tool and $address.
begin() {
    rm -f line said
    mkfifo line
    rm -f err
    "$scope" export --listen 127.0.0.1:0 "$@" <line >said 2>err &
    tool=$!
    exec 7>line
    until_true "it serves" grep -q 'figures are at' err
    address=$(sed -n 's/.*figures are at \(.*\)/\1/p' err)
}

# scrape FILE [CURL OPTION...]
scrape() {
    curl -sS --fail --max-time 20 "${@:2}" "$address" -o "$1" || die "no answer: $(cat err)"
    python3 "$tests/metrics.py" "$1" >/dev/null || die "$1 is not well-formed"
}

said() { grep -q "$1" said; }

# Sets $server: the process that serves for $tool.
find_server() {
    local child
    for child in $(cat "/proc/$tool/task/$tool/children"); do
        [[ $(cat "/proc/$child/comm") != edenscope-http ]] || server=$child
    done
}

# has_sockets PID COUNT
has_sockets() { [[ $(find "/proc/$1/fd" -lname 'socket:*' | wc -l) == "$2" ]]; }

# Whether a process has ended, though nobody may have waited for it.
has_ended() { ! grep -q '^State:[[:space:]]*[^ZX]' "/proc/$1/status" 2>/dev/null; }

# ---- from the beginning, and its children ----

EDEN_STATS=own begin -- "$giveback"
until_true "it has grown" said grown
scrape early
echo >&7
until_true "it has dropped" said dropped
scrape text
scrape open -H 'Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5'
grep -q '^# EOF$' open && ! grep -q '^# EOF$' text || die "the formats are mixed up"
names_in() { sed -nE 's/^([a-z_]+)[{ ].*/\1/p' "$1" | sort -u; }
diff <(names_in text) <(names_in open) || die "a sample has another name in the other format"
grep -q '^# TYPE edenscope_build_info gauge$' text && grep -q '^# TYPE edenscope_build info$' open || die "the build"
# Open wherever it is wanted, and not less than the other one.
while read -r is_open accept; do
    opened=no
    ! curl -sS --fail -H "Accept: $accept" "$address" | grep_all -q '^# EOF$' || opened=yes
    [[ $opened == "$is_open" ]] || die "Accept: $accept: OpenMetrics: $opened"
done <<'ACCEPTS'
no application/openmetrics-text;q=0
no application/openmetrics-text; version=1.0.0; Q=0.000, text/plain;q=0.5
no text/plain, application/openmetrics-text;q=0.4
no application/openmetrics-texts
no text/html;x="application/openmetrics-text"
no */*
yes text/plain;q=0.5,Application/OpenMetrics-Text;version=0.0.1;q=0.7
yes application/openmetrics-text;q=0, application/openmetrics-text;version=1.0.0
ACCEPTS
scrape absolute --request-target "http://x.example/metrics"
[[ $(curl -s -o /dev/null -w '%{http_code}' --request-target http://x.example/other "$address") == 404 ]] ||
    die "an absolute name of another page is there"
curl -sS -I "$address" | grep -q '^HTTP/1.1 200' || die "HEAD is refused"
[[ $(curl -s -o /dev/null -w '%{http_code}' "${address%metrics}other") == 404 ]] || die "another page is there"
[[ $(curl -s -o /dev/null -w '%{http_code}' -X POST -d x "$address") == 405 ]] || die "POST is taken"
echo >&7
exec 7>&-
wait "$tool" || die "export gave status $?: $(cat err)"
python3 "$tests/export_figures.py" own text open
python3 - <<'PYTHON'
from metrics import samples
early, late = ({key: float(value) for key, value in samples(open(name).read()).items()} for name in ("early", "text"))
for key, value in early.items():
    if key[0].endswith(("_total", "_count", "_bucket", "_sum")):
        assert late[key] >= value, (key, value, late[key])
PYTHON

rm own
EDEN_STATS=own begin -- sh -c '"$1" & "$1" & wait; "$1"; echo all over; read -r _' sh "$exercise"
until_true "three programs have ended" said 'all over'
scrape text
python3 "$tests/export_figures.py" --ended own text
grep -q '^eden_heaps{command="exercise",heap="[^"]*",user="0"[^}]*} 0$' text || die "ended heaps are alive: $(grep eden_heaps text)"
echo >&7
exec 7>&-
wait "$tool" || die "export gave status $?: $(cat err)"
echo "ended processes stay in the sums"

# ---- users who give their programs and heaps the same names ----

if [[ $EUID == 0 ]]; then
    chmod 755 "$folder"
    cp "$gun" "$folder/same"
    cat >command <<COMMAND
#!/bin/sh
shoot() { times=\$1; shift; "\$@" $folder/same heap__create:0x1000,1,name \${times}xscavenge__done:0x1000,1,1; }
shoot 1 env
shoot 20 setpriv --reuid=65533 --clear-groups
shoot 300 setpriv --reuid=65534 --clear-groups
if unshare -U true; then
    shoot 4000 setpriv --reuid=65534 --clear-groups unshare -U
    shoot 50000 unshare -U
fi
echo all over
read -r _
COMMAND
    chmod +x command
    begin -- ./command "$folder/same"
    until_true "all have ended" said 'all over'
    scrape text
    echo >&7
    exec 7>&-
    wait "$tool" || die "export gave status $?: $(cat err)"
    python3 - <<'PYTHON'
from metrics import samples
found = {}
for (name, labels), value in samples(open("text").read()).items():
    if name == "eden_scavenges_total":
        labels = dict(labels)
        assert (labels["command"], labels["heap"]) == ("same", "name"), labels
        found[labels["user"]] = int(value)
named = {user: found.pop(user) for user in ("0", "65533", "65534")}
assert (named, list(found.values())) in (({"0": 1, "65533": 20, "65534": 300}, []),
                                         ({"0": 1, "65533": 20, "65534": 4300}, [50000])), (named, found)
PYTHON
    echo "users have series of their own, whatever names they choose"
fi

# ---- units ----

leave_group() { rmdir "$folder/group/$unit/inner" "$folder/group/$unit"; umount "$folder/group"; } 2>/dev/null
if [[ $EUID == 0 ]] && ! grep -q name=systemd: /proc/self/cgroup; then
    unit=eden-test-$$.service
    mkdir group
    mount -t cgroup2 none group
    trap 'leave_group; cleanup' EXIT
    mkdir -p "group/$unit/inner"
    # shellcheck disable=SC2016
    begin -- sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2"' sh "$folder/group/$unit/inner" "$giveback"
    until_true "it has grown" said grown
    has_unit() {
        scrape text
        grep -q "^eden_heaps{command=\"giveback\",heap=\"[^\"]*\",user=\"0\",unit=\"$unit\"} 1\$" text
    }
    until_true "its unit is a label" has_unit
    printf '\n\n' >&7
    exec 7>&-
    wait "$tool" || die "export gave status $?: $(cat err)"
    leave_group
    trap cleanup EXIT
    echo "a series says in which unit its programs are"
fi

# ---- attached late, beside a recorder: percentiles ----

rm own said
mkfifo programs-line
EDEN_STATS=own "$giveback" <programs-line >programs-said &
program=$!
exec 8>programs-line
until_true "it has grown" grep -q grown programs-said
"$scope" record -v -o beside.data -p "$program" 2>record.err &
recorder=$!
until_true "record is attached" grep -q 'attached in' record.err
begin -p "$program" --per-process
echo >&8
until_true "it has dropped" grep -q dropped programs-said
scrape text
grep -q "pid=\"$program\"" text || die "there is no pid: $(head -3 text)"
echo >&8
exec 8>&-
wait "$program" "$tool" "$recorder" || die "one of them failed: $(cat err record.err)"
python3 "$tests/export_figures.py" --late own text
"$scope" report -i beside.data --view phases --json >phases.json
"$scope" report -i beside.data --view pauses --json >pauses.json
python3 - <<'PYTHON'
import collections, json, math
from metrics import samples
rows = collections.defaultdict(list)
for (name, labels), value in samples(open("text").read()).items():
    labels = dict(labels)
    if name in ("eden_phase_seconds_bucket", "eden_pause_seconds_bucket"):
        rows[labels.get("phase", "pauses")].append((float(labels["le"]), int(value)))
    if name == "eden_pause_seconds_sum":
        seconds = value
phases = json.load(open("phases.json"))["heaps"][0]["phases"]
pauses = {row["kind"]: row for row in json.load(open("pauses.json"))["heaps"][0]["pauses"]}
whole = pauses["all"]
assert round(float(seconds) * 1e9) == whole["total_ns"], (seconds, whole)
# A full collection and the scavenge before it are one of them.
calls = {phase["phase"]: phase["calls"] for phase in phases}
assert whole["count"] == calls["scavenge"] < calls["scavenge"] + calls["full"], (whole, calls)
compared = 0
for phase in phases + [{"phase": "pauses", "calls": whole["count"], **whole}]:
    row = sorted(rows[phase["phase"]])
    assert row[-1][1] == phase["calls"] and len(row) == 20, phase
    for p in (50, 90, 99):
        rank = math.ceil(p / 100 * phase["calls"])
        upper = next(edge for edge, count in row if count >= rank)
        lower = max((edge for edge, _ in row if edge < upper), default=0)
        assert lower * 1e9 < phase[f"p{p}_ns"] <= upper * 1e9 or (lower == 0 and phase[f"p{p}_ns"] == 0), (phase, p, lower, upper)
        compared += 1
assert compared > 10
print("percentiles lie in the buckets that report's do")
PYTHON

# ---- an idle heap of a process that executes another program ----

cat >idle.py <<'PYTHON'
import ctypes, os, sys
ctypes.CDLL(sys.argv[1]).eden_heap_create(None, None)
print("made", flush=True)
sys.stdin.readline()
os.execlp("sleep", "sleep", "1000")
PYTHON
mkfifo idle-line
python3 idle.py "$library" <idle-line >idle-said &
target=$!
exec 8>idle-line
until_true "the heap is there" grep -q made idle-said
begin -p "$target"
scrape text
grep -q '^eden_heaps{command="python3".* 1$' text || die "the heap is not there: $(grep eden_heaps text)"
echo >&8
# has_ended_heap: the program is another one by now, the heap still of the first.
has_ended_heap() {
    scrape text
    ! grep -q '^eden_heaps{command="\(sleep\|?\)"' text || die "it is another program's heap: $(grep eden_heaps text)"
    grep -q '^eden_heaps{command="python3".* 0$' text
}
until_true "the heap has ended" has_ended_heap
exec 7>&- 8>&-
kill "$target"
wait "$tool" || die "export gave status $?: $(cat err)"
echo "an idle heap stays its program's"

# ---- strangers ----

mkdir programs
"$hostile" names "$folder/programs" >ready &
target=$!
until_true "the hostile process is ready" grep -q ready ready
begin -p "$target" --per-process
find_server
grep -q '^CapEff:.*0000000000000000$' "/proc/$server/status" && grep -q '^NoNewPrivs:.*1$' "/proc/$server/status" &&
    grep -q '^Seccomp:.*2$' "/proc/$server/status" || die "the server has rights: $(cat "/proc/$server/status")"
port=${address##*:} port=${port%%/*}
python3 - "$port" <<'PYTHON'
import socket, sys
address = "127.0.0.1", int(sys.argv[1])
idle = [socket.create_connection(address) for _ in range(40)] # more than are served at a time
for request in (b"\0" * 100, b"GET /metrics", b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n", b"GET /metrics HTTP/1.1\r\nX: " + b"y" * 70000,
                b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\nabc"):
    stranger = socket.create_connection(address)
    try:
        stranger.sendall(request)
    except OSError:
        pass
    stranger.close()
for connection in idle:
    connection.close()
PYTHON
until_true "it answers again" curl -sS --fail --max-time 5 "$address" -o text
scrape text
scrape open -H 'Accept: application/openmetrics-text'
# Clients that send a byte now and then, or read one, and come again when they are sent away.
cat >trickle.py <<'PYTHON'
import socket, sys, time
address, reads, most = ("127.0.0.1", int(sys.argv[1])), sys.argv[2] == "read", int(sys.argv[3])
connections, closed = [], 0
for turn in range(100000):
    while len(connections) < most:
        new = socket.socket()
        new.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        new.setblocking(False)
        new.connect_ex(address)
        connections.append([new, b"GET /metrics HTTP/1.1\r\nX: " + (b"\r\n\r\n" if reads else b"")])
    for connection in list(connections):
        try:
            connection[1] = connection[1][connection[0].send(connection[1]) if connection[1] else 0:] or (b"" if reads else b"y")
            if not connection[0].recv(1):
                raise OSError
        except BlockingIOError:
            pass
        except OSError:
            connection[0].close()
            connections.remove(connection)
            closed += 1
    if turn == 10 or closed > most:
        print("turn", turn, closed, flush=True)
    time.sleep(0.2)
PYTHON
for what in write read; do
    python3 trickle.py "$port" "$what" 80 >trickled &
    trickler=$!
    until_true "all connections are taken" grep -q turn trickled
    for ((i = 0; i < 3; i++)); do
        curl -sS --fail --max-time 10 "$address" -o text || die "clients that $what slowly silence it"
    done
    kill "$trickler"
done
# Where all connections are taken, requests that wait get one answer.
made() { sed -n 's/^edenscope_scrapes_total //p' "$1"; }
scrape before
kill -STOP "$tool"
python3 - "$port" <<'PYTHON' &
import socket, sys
clients = [socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60) for _ in range(100)]
for client in clients:
    client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
for client in clients:
    while client.recv(1 << 20):
        pass
PYTHON
asking=$!
sleep 1.5
kill -CONT "$tool"
wait "$asking" || die "requests had no answer"
scrape after
(($(made after) - $(made before) <= 80)) || die "$(made before) answers were made before 100 requests, and $(made after) after them"
# A body, which may have no end, is not read.
python3 - "$port" <<'PYTHON'
import socket, sys
for head in b"Transfer-Encoding: chunked", b"Content-Length: 99999999999":
    stranger, sent = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=10), 0
    stranger.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n")
    try:
        while sent < 100 << 20:
            stranger.sendall(b"10000\r\n" + b"a" * 65536 + b"\r\n")
            sent += 65536
    except (BrokenPipeError, ConnectionResetError):
        pass
    assert sent < 50 << 20, (head, sent)
PYTHON
scrape text
expect_status 1 "$scope" export --listen "127.0.0.1:$port" -p "$target"
grep -q 'Address already in use; give another port, or 0' err || die "$(cat err)"
expect_status 1 "$scope" export --listen 192.0.2.1:0 -p "$target"
grep -q 'Cannot assign requested address; give an address of this machine' err || die "$(cat err)"
[[ $(cat /proc/sys/net/ipv4/ip_unprivileged_port_start) -le 80 ]] || {
    expect_status 1 setpriv --bounding-set=-net_bind_service --inh-caps=-all \
        "$scope" export --listen 127.0.0.1:80 -p "$target"
    grep -q 'Permission denied; ports below 1024 need root or CAP_NET_BIND_SERVICE: give another' err || die "$(cat err)"
}
# A tool that does not answer costs a scrape, and no more.
kill -STOP "$tool"
[[ $(curl -s -o /dev/null -w '%{http_code}' --max-time 30 "$address") == 503 ]] || die "a silent tool is no 503"
kill -CONT "$tool"
scrape text
# It has a socket to listen at, pipes, which hand over no descriptor, and nothing of the tool's.
until_true "its clients have gone" has_sockets "$server" 1
[[ $(find "/proc/$server/fd" -lname 'pipe:*' | wc -l) == 2 && $(find "/proc/$server/fd" -lname /dev/null | wc -l) == 3 ]] ||
    die "the server has other descriptors: $(ls -l "/proc/$server/fd")"
kill -INT "$tool"
wait "$tool" || die "export gave status $?"
[[ ! -e /proc/$server ]] || die "the server outlives the tool"
begin -p "$target"
find_server
kill -KILL "$server"
status=0
wait "$tool" || status=$?
[[ $status == 1 ]] && grep -q 'the server of metrics has ended' err || die "status $status: $(cat err)"
# A signal to all its processes at once is one to the tool: whichever gets it first, it ends in order, and none stays.
setsid "$scope" export --listen 127.0.0.1:0 -p "$target" 2>err &
tool=$!
until_true "it serves" grep -q 'figures are at' err
address=$(sed -n 's/.*figures are at \(.*\)/\1/p' err)
find_server
kill -TERM "$server"
scrape text
mapfile -t helpers < <(ps -o pid= -s "$tool")
((${#helpers[@]} > 2)) || die "it has no helpers: ${helpers[*]}"
kill -TERM -- "-$tool"
wait "$tool" || die "a signal to the group gave status $?: $(cat err)"
have_ended() {
    local one
    for one in "${helpers[@]}"; do
        has_ended "$one" || return 1
    done
}
until_true "its helpers have ended" have_ended
[[ $(wc -l <err) == 1 ]] || die "a signal to the group is a failure: $(cat err)"
# A server that cannot end does not keep the tool from ending, nor does it outlive it.
begin -p "$target"
find_server
kill -STOP "$server"
kill -INT "$tool"
wait "$tool" || die "export gave status $?: $(cat err)"
until_true "the server has ended with the tool" has_ended "$server"
for wrong in nonesuch 127.0.0.1 :80 127.0.0.1:x 127.0.0.1:99999 300.1.1.1:80; do
    expect_status 1 "$scope" export --listen "$wrong" -p "$target"
    grep -q -- "--listen $wrong: " err || die "$wrong: $(cat err)"
done
kill "$target"
echo "strangers' requests and names"

# ---- answers that are late, and larger than a pipe or a socket holds ----

"$hostile" heaps 120 >many-ready &
target=$!
until_true "the hostile process is ready" grep -q ready many-ready
begin -p "$target" --per-process
find_server
scrape text
[[ $(stat -c %s text) -gt 300000 ]] || die "the text is too short: $(stat -c %s text) bytes"
# ask_stopped: the tool answers when it is too late.
ask_stopped() {
    kill -STOP "$tool"
    [[ $(curl -s -o /dev/null -w '%{http_code}' --max-time 30 "$address") == 503 ]] || die "a silent tool is no 503"
    kill -CONT "$tool"
}
ask_stopped
sleep 12 # the tool waits ten seconds for a server that reads nothing
scrape text
ask_stopped
kill -INT "$tool"
wait "$tool" || die "export gave status $?: $(cat err)"
until_true "the server has ended with the tool" has_ended "$server"
kill "$target"
echo "late answers cost a scrape each"

# ---- beyond a process's share: what is left out is counted, and said at the end as stat says it ----

shots=()
phases=(scavenge scavenge__copy full mark sweep) # each with a histogram of its own
for ((i = 1; i <= 3000; i++)); do
    shots+=("heap__create:$((i * 4096)),$i,many")
    for phase in "${phases[@]}"; do
        shots+=("${phase}__done:$((i * 4096)),1,1000000")
    done
done
begin -- "$gun" "${shots[@]}" wait
until_true "all probes have fired" said waiting
scrape text
echo >&7
exec 7>&-
wait "$tool" || die "export gave status $?: $(cat err)"
cp err export.err
"$scope" stat -o table -- "$gun" "${shots[@]}" >/dev/null 2>stat.err
python3 - "${#phases[@]}" <<'PYTHON'
import collections, re, sys
from metrics import samples
phases = int(sys.argv[1])
found, of_phases = collections.Counter(), collections.defaultdict(dict)
for (name, labels), value in samples(open("text").read()).items():
    if name.startswith(("eden_phase_seconds_", "eden_pause_seconds_")):
        of_phases[dict(labels).get("phase", "pauses")][name[len("eden_phase_seconds_"):]] = float(value)
    else:
        found[name] += float(value)
heaps = 3000 - found["eden_heaps"]
assert heaps > 0 and found["edenscope_heaps_lost_total"] == heaps, found
assert found["eden_scavenges_total"] == found["eden_heaps"], found
counts = 0
for phase, of in of_phases.items():
    assert round(of["sum"] * 1000) == of["count"], (phase, of)
    counts += of["count"]
missing = (phases + 2) * found["eden_heaps"] - counts # two pauses: no start was seen
assert len(of_phases) == phases + 1 and missing > 0
assert found["edenscope_hits_lost_total"] == heaps * (1 + phases) + missing, (found, missing)
said = [re.sub(r"process \d+", "", line) for name in ("export.err", "stat.err") for line in open(name) if "share" in line]
assert len(said) == 2 and said[0] == said[1] and f"{heaps:.0f} heaps beyond its share" in said[0], said
print(f"{heaps:.0f} heaps and {missing:.0f} durations are left out, and counted")
PYTHON

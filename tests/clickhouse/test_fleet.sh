#!/usr/bin/env bash
# The events of 1,000 hosts in two shards of a real ClickHouse, which `make test-fleet` installs: programs are recorded, each
# recording is printed for many hosts, with their labels, and loaded as docs/fleet.md says; the page's queries give what is
# worked out from the lines. Recordings of yesterday are copies whose clock is set back. Some hosts changed since then, are
# new or silent; of some, events were lost, the recording was cut short, or lines do not arrive.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../e2e/common.sh"

# The servers have ended when their files go.
end_servers() {
    [[ ${#children[@]} == 0 ]] || kill "${children[@]}" 2>/dev/null || true
    [[ ${#children[@]} == 0 ]] || wait "${children[@]}" 2>/dev/null || true
    children=()
}
trap 'end_servers; cleanup' EXIT

need_edenscope
page=$PWD/docs/fleet.md tables=$PWD/scripts/clickhouse/eden-events.sql checker=$PWD/tests/clickhouse/fleet.py
export PYTHONPATH=$PWD/tests/e2e
workloads=$(readlink -f "$build/workloads")
enter_folder
PATH=$folder/bin:$(dirname "$scope"):$PATH:/usr/sbin
mkdir bin

# ---- two servers

# As the page has them, of this machine.
block() { awk -v kind="$1" -v wanted="$2" '/^## / { on = /Events in ClickHouse/ } /^```$/ { in_block = 0 }
    in_block && n == wanted { print } on && $0 == "```" kind { in_block = 1; n++ }' "$page"; }
mapfile -t ports < <(python3 -c '
import socket
sockets = [socket.socket() for _ in range(4)]
for each in sockets:
    each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in sockets), sep="\n")')

# server NUMBER: a shard.
server() {
    local own=$folder/shard$1
    mkdir -p "$own/config.d"
    block xml 1 | sed "s|shard1</host><port>9000|127.0.0.1</host><port>${ports[0]}|
        s|shard2</host><port>9000|127.0.0.1</host><port>${ports[1]}|" >"$own/config.d/eden.xml"
    [[ $(grep -c 127.0.0.1 "$own/config.d/eden.xml") == 2 ]] || die "the page names no two shards"
    cat >"$own/config.xml" <<XML
<yandex>
    <logger><level>warning</level><log>$own/log</log><errorlog>$own/errors</errorlog></logger>
    <listen_host>127.0.0.1</listen_host>
    <tcp_port>${ports[$1 - 1]}</tcp_port>
    <http_port>${ports[$1 + 1]}</http_port>
    <path>$own/data/</path>
    <tmp_path>$own/tmp/</tmp_path>
    <users_config>users.xml</users_config>
    <default_profile>default</default_profile>
    <default_database>default</default_database>
    <mark_cache_size>67108864</mark_cache_size>
</yandex>
XML
    cat >"$own/users.xml" <<XML
<yandex>
    <profiles><default></default></profiles>
    <quotas><default></default></quotas>
    <users>
        <default>
            <password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>
        </default>
    </users>
</yandex>
XML
    (cd "$own" && exec clickhouse-server --config-file="$own/config.xml") >"$own/said" 2>&1 &
    children+=($!)
}
client=$(command -v clickhouse-client) || die "there is no clickhouse-client: scripts/setup fleet"
server 1
server 2
# The page's hosts are these servers.
cat >bin/clickhouse-client <<SH
#!/bin/sh
case "\$1 \$2" in
"--host shard1") shift 2 && set -- --port ${ports[0]} "\$@" ;;
"--host shard2") shift 2 && set -- --port ${ports[1]} "\$@" ;;
esac
exec $client --host 127.0.0.1 "\$@"
SH
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "$SIMULATED"\n' >bin/hostname
chmod +x bin/*
answers() { clickhouse-client --port "$1" --query 'SELECT 1' >answer 2>&1; }
for number in 1 2; do
    until_true "server $number answers: $(cat shard$number/errors 2>/dev/null)" answers "${ports[number - 1]}"
done
# count PORT TABLE [CONDITION]
count() { clickhouse-client --port "$1" --query "SELECT count() FROM $2 WHERE ${3:-1}"; }

cp "$tables" eden-events.sql
block sh 1 >create.sh
bash -e create.sh || die "the page's commands make no tables"
bash -e create.sh || die "they fail where tables exist"

# ---- recordings: two of each service, and of two services one with other parameters and another share of the time

# recorded NAME OPTIONS PROGRAM...: of the services that change, times are those of the work, for a busy machine would hide
# the change.
recorded() {
    EDEN_OPTIONS=$2 "$scope" record -o "$1.data" -- "${@:3}" >/dev/null 2>err || die "record $1: $(cat err)"
    case $1 in
    cart.* | render.*) python3 -c 'import retime, sys; retime.retime(sys.argv[1])' "$1.data" ;;
    esac
    cp "$1.data" "$1.yesterday.data"
    sqlite3 "$1.yesterday.data" "UPDATE meta SET value = value - 86400000000000 WHERE key = 'start_ns'"
}
services=(cart ledger planner render search)
for run in 0 1; do
    recorded cart.$run policy=fixed,eden_size=2M,max_heap=64M "$workloads/queue" 2000000 1000
    recorded ledger.$run "" "$exercise"
    recorded planner.$run policy=fixed,eden_size=4M "$workloads/mobidyc" --steps 10
    recorded render.$run policy=fixed "$workloads/bloc" --frames 1200
    recorded search.$run policy=fixed,eden_size=8M "$workloads/moose" --classes 1200
done
recorded cart.other policy=fixed,eden_size=256K,full_gc_ratio=0.1,max_heap=64M "$workloads/queue" 2000000 50000
recorded render.other policy=fixed,eden_size=4M "$workloads/bloc" --frames 1200
cp cart.0.data cart.lossy.data
sqlite3 cart.lossy.data "UPDATE meta SET value = 1234 WHERE key = 'lost'"
cp search.0.data search.cut.data
sqlite3 search.cut.data "UPDATE meta SET value = 0 WHERE key = 'finished'"

# ---- 1,000 hosts, today and yesterday

block sh 2 >load.sh
grep -q 'edenscope script -i eden.data --json .*--label service=cart |$' load.sh || die "the page loads otherwise: $(cat load.sh)"
sed 1d load.sh >insert.sh

# events NUMBER RECORDING: the lines of a host, by the page's command.
# shellcheck disable=SC2016
script=$(sed -n '1s/-i eden.data/-i "$SIMULATED_DATA"/; 1s/service=cart |$/service="$SIMULATED_SERVICE"/p' load.sh)
events() {
    SIMULATED=$(printf 'app%04d' "$1")
    export SIMULATED SIMULATED_DATA=$2.data SIMULATED_SERVICE=${services[$1 % 5]}
    eval "$script" 2>/dev/null
}
hosts=1000
for ((host = 1; host <= hosts; host++)); do
    service=${services[host % 5]} run=$((host / 5 % 2))
    today=$service.$run yesterday=$service.$run.yesterday
    case $host in
    310 | 503 | 708 | 905) today=$service.other ;;
    42 | 43) today= ;;
    996 | 997) yesterday= ;;
    20) today=$service.lossy ;;
    19) today=$service.cut ;;
    esac
    [[ -z $yesterday ]] || events "$host" "$yesterday"
    case $host in
    11) events "$host" "$today" | grep -v '"probe": *"mark__start"' ;;
    17) events "$host" "$today" | sed '$d' ;;
    *) [[ -z $today ]] || events "$host" "$today" ;;
    esac
done >lines
bash -e insert.sh <lines || die "the page's command loads nothing"

lines=$(wc -l <lines)
parts=("$(count "${ports[0]}" eden.events_local)" "$(count "${ports[1]}" eden.events_local)")
[[ $((parts[0] + parts[1])) == "$lines" && ${parts[0]} -gt 0 && ${parts[1]} -gt 0 ]] || die "$lines lines became ${parts[*]}"
for port in "${ports[@]:0:2}"; do
    [[ $(count "$port" eden.events) == "$lines" ]] || die "port $port shows another number of lines"
    clickhouse-client --port "$port" --query 'SELECT DISTINCT host FROM eden.events_local ORDER BY host' >"hosts.$port"
done
[[ $(cat hosts.* | sort -u | wc -l) == "$hosts" && -z $(comm -12 hosts.*) ]] || die "a host is on two shards, or on none"
echo "$hosts hosts, $lines lines: ${parts[0]} on one shard, ${parts[1]} on the other"

# ---- the questions

mkdir answers
python3 "$checker" "$page" lines answers "${ports[@]:0:2}" || die "see above; the answers: $(tail -n 30 answers/*)"

# A file that is sent again is found.
events 501 ledger.0 >again
bash -e insert.sh <again
cat again >>lines
python3 "$checker" --only 5 "$page" lines answers "${ports[@]:0:2}" || die "a file is sent again: $(cat answers/losers)"
grep -q 'app0501 .* 1$' answers/losers || die "nobody sees what was sent again: $(cat answers/losers)"

for number in 1 2; do
    [[ ! -s shard$number/errors ]] || die "server $number: $(head shard$number/errors)"
done
end_servers

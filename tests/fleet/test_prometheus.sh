#!/usr/bin/env bash
# edenscope export with a real Prometheus and a real VictoriaMetrics, which `make test-prometheus` installs: it is scraped,
# what is scraped goes on by remote write, both have the same figures, and the percentile that a query gives lies in the
# bucket of the one that report gives; each query of the dashboard finds in both what its panel shows.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../e2e/common.sh"

need_edenscope
rules=$PWD/scripts/prometheus/eden.rules.yml dashboard=$PWD/scripts/prometheus/eden-dashboard.json fleet=$PWD/tests/fleet
export PYTHONPATH=$PWD/tests/e2e
giveback=$(readlink -f "$build/tests/giveback")
enter_folder

promtool check rules "$rules" >checked || die "the rules: $(cat checked)"

# All of the program, whose file is known by the time it starts: what export counts is recorded, too.
"$scope" record -v -o beside.data -n giveback 2>record.err &
recorder=$!
until_true "record is attached" grep -q 'attached in' record.err
"$giveback" </dev/null >/dev/null || true
mkfifo line
EDEN_STATS=own "$scope" export --listen 127.0.0.1:0 -- sh -c '"$1" && echo over && read -r _' sh "$giveback" <line >said 2>err &
tool=$!
exec 7>line
until_true "it serves" grep -q 'figures are at' err
address=$(sed -n 's|.*figures are at http://\(.*\)/metrics|\1|p' err)
until_true "it has grown" grep -q grown said
curl -sS --fail "http://$address/metrics" >text
promtool check metrics <text >checked 2>&1 || die "promtool: $(cat checked)"
[[ ! -s checked ]] || die "promtool: $(cat checked)"

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
store=$(free_port) prometheus=$(free_port)
# It would answer without the last half minute.
victoria-metrics -storageDataPath="$folder/store" -httpListenAddr="127.0.0.1:$store" -retentionPeriod=1d \
    -search.latencyOffset=0s >store.log 2>&1 &
children+=($!)
cat >prometheus.yml <<YAML
global: {scrape_interval: 500ms, evaluation_interval: 500ms}
rule_files: ["$rules"]
scrape_configs:
  - job_name: eden
    static_configs: [{targets: ["$address"]}]
remote_write:
  - url: http://127.0.0.1:$store/api/v1/write
YAML
promtool check config prometheus.yml >checked || die "$(cat checked)"
prometheus --config.file=prometheus.yml --storage.tsdb.path="$folder/tsdb" --web.listen-address="127.0.0.1:$prometheus" \
    >prometheus.log 2>&1 &
children+=($!)

# query PORT EXPRESSION: the JSON of its result.
query() { curl -sS --fail -G "http://127.0.0.1:$1/api/v1/query" --data-urlencode "query=$2" >"$folder/answer" 2>/dev/null; }
# has PORT EXPRESSION VALUE
has() {
    query "$1" "$2" && python3 -c "
import json, sys
result = json.load(open('answer'))['data']['result']
sys.exit(0 if len(result) == 1 and float(result[0]['value'][1]) == float(sys.argv[1]) else 1)" "$3"
}

until_true "Prometheus scrapes" has "$prometheus" 'up{job="eden"}' 1
echo >&7
until_true "it has dropped" grep -q dropped said
shows() { timeout 30 python3 "$fleet/dashboard.py" "$dashboard" "127.0.0.1:$1" >shown 2>&1; }
for port in "$prometheus" "$store"; do
    for ((i = 0; i < 30; i++)); do
        ! shows "$port" || break
        sleep 1
    done
    ((i < 30)) || die "the dashboard, at port $port: $(tail -n 1 shown)"
    echo "the dashboard: $(cat shown)"
done
echo >&7
until_true "it is over" grep -q over said
scavenges=$(python3 -c "import json; print(json.loads(open('own').readline())['scavenges'])")
gc=$(python3 -c "import json; print(json.loads(open('own').readline())['gc_ns'] / 1e9)")
for port in "$prometheus" "$store"; do
    until_true "the figures are in the store at $port" has "$port" 'eden_scavenges_total{job="eden"}' "$scavenges"
    until_true "the time is in the store at $port" has "$port" 'eden_gc_seconds_total{job="eden"}' "$gc"
done
echo "scraped and written on: what the program itself counts"

kill -INT "$recorder"
wait "$recorder" || die "record: $(cat record.err)"
"$scope" report -i beside.data --view phases --json >phases.json
"$scope" report -i beside.data --view pauses --json >pauses.json
curl -sS --fail "http://$address/metrics" >text
# The whole histogram is one of counts since the beginning: its quantile is interpolated within a bucket.
for port in "$prometheus" "$store"; do
    query "$port" 'histogram_quantile(0.99, {__name__=~"eden_(phase|pause)_seconds_bucket", job="eden"})'
    python3 - <<'PYTHON'
import json, math
from metrics import samples
pid = json.loads(open("own").readline())["pid"]
(phases, pauses) = ([heap for heap in json.load(open(f"{view}.json"))["heaps"] if heap["pid"] == pid][0]
                    for view in ("phases", "pauses"))
recorded = {row["phase"]: row for row in phases["phases"]}
recorded["pauses"] = next({"calls": row["count"], **row} for row in pauses["pauses"] if row["kind"] == "all")
edges = sorted({float(dict(labels)["le"]) for name, labels in samples(open("text").read()) if name == "eden_phase_seconds_bucket"})
counts = {dict(labels).get("phase", "pauses"): int(value) for (name, labels), value in samples(open("text").read()).items()
          if name in ("eden_phase_seconds_count", "eden_pause_seconds_count")}
compared = set()
for series in json.load(open("answer"))["data"]["result"]:
    phase, value = series["metric"].get("phase", "pauses"), float(series["value"][1])
    if phase not in recorded:
        continue
    assert recorded[phase]["calls"] == counts[phase], (phase, recorded[phase], counts)
    seen = recorded[phase]["p99_ns"] / 1e9
    upper = next(edge for edge in edges if seen <= edge)
    lower = max((edge for edge in edges if edge < upper), default=0)
    assert lower <= value <= upper, (phase, value, seen, lower, upper)
    compared.add(phase)
assert compared == set(recorded) and "pauses" in compared, (compared, recorded.keys())
print(f"{len(compared)} percentiles agree within a bucket")
PYTHON
done
curl -sS --fail "http://127.0.0.1:$prometheus/api/v1/rules" | python3 -c "
import json, sys
rules = [rule for group in json.load(sys.stdin)['data']['groups'] for rule in group['rules']]
assert len(rules) == 9 and all(rule['health'] in ('ok', 'unknown') for rule in rules), rules"
echo >&7
exec 7>&-
wait "$tool" || die "export gave status $?: $(cat err)"
kill "${children[@]}"
wait "${children[@]}" || true

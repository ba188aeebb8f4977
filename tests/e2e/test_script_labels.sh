#!/usr/bin/env bash
# edenscope script --json --label: each line is the line without labels, and has the labels, the time of day and when the
# recording began; the last one counts the lines, and what was lost. What a store could misread is refused, by name, with a
# remedy.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
need_edenscope
gun=$(readlink -f "$build/tests/probe_gun")
enter_folder

before=$(date +%s%N)
expect_status 0 "$scope" record -o whole.data -- "$exercise" 3
after=$(date +%s%N)
cp whole.data cut.data
sqlite3 cut.data "UPDATE meta SET value = 1234 WHERE key = 'lost'; UPDATE meta SET value = 0 WHERE key = 'finished'"

for data in whole cut; do
    "$scope" script -i $data.data --json --probe scavenge__done --probe heap__create >plain 2>/dev/null
    "$scope" script -i $data.data --json --probe scavenge__done --probe heap__create \
        --label host=app1 --label 'service=a "b" \ €' >labelled 2>/dev/null
    "$scope" report -i $data.data --json >report.json 2>/dev/null
    python3 - "$before" "$after" <<'PYTHON' || die "$data: lines with labels"
import json, sys

before, after = map(int, sys.argv[1:])
plain, labelled = ([json.loads(line) for line in open(name)] for name in ("plain", "labelled"))
report = json.load(open("report.json"))
began = {line["recording_ns"] for line in labelled}
offset = {line["wall_ns"] - line["time_ns"] for line in labelled} # between both clocks
assert len(began) == len(offset) == 1 and before < min(began) < after, (began, offset)
for line in labelled:
    assert list(line)[:5] == ["time_ns", "wall_ns", "recording_ns", "host", "service"], line
    assert (line.pop("host"), line.pop("service")) == ("app1", 'a "b" \\ €'), line
    wall = line.pop("wall_ns")
    assert line.pop("recording_ns") - 1000000000 < wall < after, line
counts = labelled.pop()
assert labelled == plain and len(plain) > 10, len(plain)
partial = counts.pop("partial", None)
assert partial == (None if report["lost"] == 0 else "cut short: the recorder was killed, or could not write the reason"), partial
del counts["time_ns"]
assert counts == {"observed_ns": report["wall_ns"], "events": len(plain), "lost": report["lost"]}, (counts, report)
PYTHON
    ! cut -d' ' -f1 plain | grep -q wall_ns || die "lines without labels have changed"
done

# A word's member is a text also where the value has no name.
expect_status 0 "$scope" record -o newer.data -- "$gun" heap__create:0x1000,1 scavenge__start:0x1000,1,99
[[ $("$scope" script --json -i newer.data --probe scavenge__start | jq -c .cause) == 99 ]] || die "a cause without a name"
[[ $("$scope" script --json -i newer.data --probe scavenge__start --label host=a | head -n 1 | jq -c .cause) == '"99"' ]] ||
    die "a cause without a name is no text: $("$scope" script --json -i newer.data --label host=a)"

# refused WORDS ARGUMENT...
refused() {
    expect_status 1 "$scope" script -i whole.data "${@:2}"
    grep -qF -- "$1" err || die "script ${*:2} does not say '$1': $(cat err)"
    [[ ! -s out ]] || die "script ${*:2} prints something"
}
refused "--label host: not a label; give KEY=VALUE, such as host=app1; \`edenscope script --help\` shows the usage" \
    --json --label host
refused '--label=ho st=a: the key is no name' --json '--label=ho st=a'
refused '--label host=: the value is empty' --json --label host=
refused '--label host=\x1b[31m: the value holds characters that do not print' --json --label $'host=\e[31m'
refused '--label host=\xff: the value holds' --json --label $'host=\xff'
refused '--label pid=1: lines have a member with the name of this key; give another key' --json --label pid=1
refused '--label host=b: another label has this key' --json --label host=a --label host=b
refused '--label: this option needs a value' --json --label
refused '--label host: labels are members of JSON; give --json too' --label host=a
refused '--label host: labels are members of JSON; give --json too' --label host=a --csv
expect_status 1 "$scope" report --json --label host=a -i whole.data
grep -qF -- '--label: unknown option' err || die "report takes a label: $(cat err)"
# Where the events cannot be read, no line says that they are whole.
head -c $(($(stat -c %s whole.data) / 8192 * 4096)) whole.data >half.data
"$scope" script --json --label host=a -i half.data >out 2>err && die "half a recording is read"
! grep -q '"events"' out || die "half a recording is counted: $(tail -n 1 out)"

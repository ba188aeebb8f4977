#!/usr/bin/env bash
# docs/perf.md: each example runs as it stands there, and prints what is shown below it, other numbers aside; perf sees as many
# scavenges as the program made; nothing of it stays behind.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
[[ -e /sys/kernel/tracing/uprobe_events ]] || { echo "no tracefs: perf cannot make events here"; exit 77; }
awk -v folder="$folder" '/^## [0-9]+\. / { n = $2 + 0 } /^```$/ { file = "" } file != "" { print >file }
    /^```sh$/ { file = folder "/" n ".sh" } /^```text$/ { file = folder "/" n ".txt" }' docs/perf.md
copy_program "$build/tests/children" "$folder/children"
enter_folder
export HOME=$folder # perf's cache

numbers() { sed -E 's/\([0-9a-f]+\)/(9)/g; s/[0-9]{3,}/9/g; s/took [0-9]+/took 9/; s/arg([0-9]+)=[0-9]+/arg\1=9/g; s/^ +//; s/ +$//'; }
for example in [0-9].sh; do
    n=${example%.sh}
    sed "s|PROGRAM|$folder/children|g" "$example" >run
    bash -eu -o pipefail run >printed 2>err || [[ $n == 1 && -s printed ]] || die "example $n fails: $(cat err printed)"
    diff <(sed "s|PROGRAM|$folder/children|" "$n.txt" | numbers) <(grep '[a-z0-9]' printed | grep -vE '^[0-9]+ [0-9]+ [0-9]+ [0-9]+$' | numbers) >differ ||
        die "example $n prints something else: $(cat differ err)"
done
[[ $n == 3 ]] || die "only $n examples"

perf script -i scavenges.data -F event,trace 2>/dev/null | grep -c scavenge__done >seen
./children one >own
made=$(cut -d' ' -f2 own)
[[ $(cat seen) == "$made" ]] || die "perf saw $(cat seen) scavenges of $made"
! grep -qs "$folder" /sys/kernel/tracing/uprobe_events || die "perf's events stay"
echo "perf, gdb and bcc see what docs/perf.md says"

#!/usr/bin/env bash
# docs/lifetimes.md shows what is printed: each command that says so is run, and each line below it is looked for in what
# it prints, in order; counts, sizes and names must be the same, times and shares may differ, and where not all objects
# are sampled counts may too. The page names every sampling, mechanism and view.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
# One of ten choices of samples has enough of each class, and gives no advice; the page shows one with advice.
export EDEN_SAMPLING_SEED=2
program=$(readlink -f "$exercise")
open_page docs/lifetimes.md
python3 - "$page" <<'PYTHON' || die "docs/lifetimes.md shows something else"
import re, subprocess, sys
from doc_examples import examples, output

def pattern(line, exact):
    """What a printed line must be, for the shown one."""
    line = " ".join(line.split())
    rules = [(r"(?<=\[)\d+(?=\])", r"\d+"), (r"[\d.]+ (ns|us|ms|s)\b", r"[\d.]+ (ns|us|ms|s)"), (r"[\d.]+%", r"[\d.]+%"),
             (r"[#+]{2,}", r"[#+]*"), (r"\b(short-lived|long-lived|unknown)\b", "(short-lived|long-lived|unknown)"),
             (r"[\d.]+ seconds", r"[\d.]+ seconds")]
    if not exact:
        rules += [(r"[\d,.]+ (B|KiB|MiB|GiB)\b", r"[\d,.]+ (B|KiB|MiB|GiB)"), (r"(?<= )[\d,]+(?= )", r"[\d,]+")]
    found, at = "", 0
    while at < len(line):
        for shown, wanted in rules:
            match = re.compile(shown).match(line, at)
            if match:
                found, at = found + wanted, match.end()
                break
        else:
            found, at = found + re.escape(line[at]), at + 1
    return re.compile(found)

blocks = examples(sys.argv[1], 4)
for command, shown in blocks:
    printed_text = output(command, subprocess.STDOUT)
    printed = [" ".join(line.split()) for line in printed_text.splitlines()]
    lines = [line for line in shown.splitlines() if line.strip() not in ("", "...")]
    if len(lines) < 4:
        sys.exit(f"{command}: shows next to nothing")
    at = 0
    for line in lines:
        wanted = pattern(line, "--sampling all" in command)
        while at < len(printed) and not wanted.fullmatch(printed[at]):
            at += 1
        if at == len(printed):
            sys.exit(f"{command}\ndoes not print, in its place:\n{line}\nbut:\n{printed_text}")
        at += 1
print(f"{len(blocks)} examples print what is shown")
PYTHON

# What can be asked for is explained, and what is explained can be asked for.
# words HEADING: what stands in backquotes in the first column of the table of that heading.
# shellcheck disable=SC2016
words() { sed -n "/^| $1 |/,/^\$/p" "$page" | tail -n +3 | cut -d'|' -f2 | grep -o '`[^`]*`' | tr -d '`'; }
edenscope lifetimes --view '?' -- true 2>views && die "a view called '?'"
sed -n 's/.*choose one of //p' views | tr -d ' ' | tr ',' '\n' | sort >there
[[ $(wc -l <there) -gt 10 ]] || die "no list of views: $(cat views)"
words view | sort | diff there - || die "views differ"
count=0
for sampling in $(words sampling); do
    sampling=${sampling/OPEN\/CLOSED/10\/90}
    sampling=${sampling/%N/64}
    edenscope lifetimes --sampling "$sampling" --json -o seen -- "$program" >out 2>&1 || die "--sampling $sampling fails: $(cat out)"
    count=$((count + 1))
done
for mechanism in $(words mechanism); do
    mechanism=${mechanism/BYTES/64K}
    edenscope lifetimes --mechanism "$mechanism" --json -o seen -- "$program" >out 2>&1 || die "--mechanism $mechanism fails: $(cat out)"
    jq -e --arg name "${mechanism%=*}" '.mechanism == $name' seen >/dev/null || die "--mechanism $mechanism is not used"
    count=$((count + 1))
done
[[ $count == 10 ]] || die "$count samplings and mechanisms, not 10"
echo "samplings, mechanisms and views are those of the page"

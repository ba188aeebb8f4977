#!/usr/bin/env bash
# docs/tuning.md: its commands run, and print the findings that it shows as high ones, with the same parameters, and the
# other lines' shape; both say what the findings do not explain, or neither does; what is near a threshold may come or
# go. What a run finds is judged on a virtual clock, so that the machine's pace does not count.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
open_page docs/tuning.md
# tune-by-count PROGRAM...: `edenscope tune -- PROGRAM...`, on a virtual clock.
cat >tune-by-count <<'SCRIPT'
#!/usr/bin/env bash
set -e
edenscope record --force --lifetimes=details --sampling refill=37K -o count.data -- "$@" >/dev/null
python3 -c 'from retime import retime; retime("count.data")'
edenscope tune -i count.data
SCRIPT
chmod +x tune-by-count
python3 - "$page" <<'PYTHON' || die "docs/tuning.md shows something else"
import re, sys
from doc_examples import examples, output

def findings(text):
    """Of each finding the severity and the parameters that are to be set."""
    parts = re.split(r"^  ([a-z]+(?:\.[a-z-]+)?) \((note|low|medium|high)\b.*$", text, flags=re.M)
    return {key: (severity, re.findall(r"([a-z_.]+)=", "".join(re.findall(r"^     set  (.*?):", rest, re.M))))
            for key, severity, rest in zip(parts[1::3], parts[2::3], parts[3::3])}

# What the findings explain, and what they do not.
ACCOUNT = [r"^  the findings explain [0-9.]+% of the time, [0-9.]+% is unexplained \(", r"^  unexplained \(",
           r"shares\s+of\s+findings\s+may\s+overlap"]
blocks = examples(sys.argv[1], 4)
for command, shown in blocks:
    printed = output(command.replace("edenscope tune -- ", "./tune-by-count "))
    wanted, found = findings(shown), findings(printed)
    for key, (severity, parameters) in wanted.items():
        if severity in ("high", "note") and (key not in found or found[key][1] != parameters):
            sys.exit(f"{command}\ndoes not find {key}, or sets something else than {parameters}:\n{printed}")
    for part in ACCOUNT:
        if bool(re.search(part, shown, re.M)) != bool(re.search(part, printed, re.M)):
            sys.exit(f"{command}\none of the page and tune has '{part}', the other has not:\n{printed}")
    if "--verify" in command:
        for line in shown.splitlines():
            head = re.match(r"[A-Za-z ]*?(?=  )|", line).group()
            if head and not re.search(rf"^{re.escape(head)}  ", printed, re.M):
                sys.exit(f"{command}\nhas no line '{head}':\n{printed}")
        if "The output of the command is the same." not in printed:
            sys.exit(f"{command}: the answer depends on the options:\n{printed}")
    elif not wanted:
        sys.exit(f"{command}: the page shows no finding")
print(f"{len(blocks)} examples find what is shown")
PYTHON

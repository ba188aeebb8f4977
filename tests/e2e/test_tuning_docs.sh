#!/usr/bin/env bash
# docs/tuning.md: its commands run, and print the findings that it shows as high ones, with the same parameters, and the
# other lines' shape; what takes time may be other, and what is near a threshold may come or go.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
page=$PWD/docs/tuning.md
mkdir "$folder/build"
ln -s "$(readlink -f "$build/workloads")" "$folder/build/workloads"
PATH=$(readlink -f "$build/bin"):$PATH
unset EDEN_OPTIONS
cd "$folder"
python3 - "$page" <<'PYTHON' || die "docs/tuning.md shows something else"
import re, subprocess, sys

page = open(sys.argv[1], encoding="utf-8").read()
blocks = re.findall(r"<!-- output of the next command -->\n```sh\n(.*?)```\n\n```text\n(.*?)```\n", page, re.S)
if len(blocks) != page.count("<!-- output") or len(blocks) < 4:
    sys.exit(f"{len(blocks)} examples can be read")

def findings(text):
    """Of each finding the severity and the parameters that are to be set."""
    parts = re.split(r"^  ([a-z]+(?:\.[a-z-]+)?) \((note|low|medium|high)\b.*$", text, flags=re.M)
    return {key: (severity, re.findall(r"([a-z_.]+)=", "".join(re.findall(r"^     set  (.*?):", rest, re.M))))
            for key, severity, rest in zip(parts[1::3], parts[2::3], parts[3::3])}

for command, shown in blocks:
    done = subprocess.run(["bash", "-e", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: status {done.returncode}: {done.stderr}")
    wanted, found = findings(shown), findings(done.stdout)
    for key, (severity, parameters) in wanted.items():
        if severity in ("high", "note") and (key not in found or found[key][1] != parameters):
            sys.exit(f"{command}\ndoes not find {key}, or sets something else than {parameters}:\n{done.stdout}")
    if "--verify" in command:
        for line in shown.splitlines():
            head = re.match(r"[A-Za-z ]*?(?=  )|", line).group()
            if head and not re.search(rf"^{re.escape(head)}  ", done.stdout, re.M):
                sys.exit(f"{command}\nhas no line '{head}':\n{done.stdout}")
        if "The command prints the same." not in done.stdout:
            sys.exit(f"{command}: the answer depends on the options:\n{done.stdout}")
    elif not wanted:
        sys.exit(f"{command}: the page shows no finding")
print(f"{len(blocks)} examples find what is shown")
PYTHON

"""The examples of a page of docs/: each command under the mark `output of the next command`, and what the page shows of
its output."""
import re
import subprocess
import sys

MARK = "<!-- output"


def examples(page, least):
    """A list of (command, shown). Ends the test where there are fewer, or one can't be read."""
    text = open(page, encoding="utf-8").read()
    found = re.findall(r"<!-- output of the next command -->\n```sh\n(.*?)```\n\n```text\n(.*?)```\n", text, re.S)
    if len(found) < least or len(found) != text.count(MARK):
        sys.exit(f"{len(found)} examples of {text.count(MARK)} can be read")
    return found


def output(command, errors=subprocess.PIPE):
    """What it prints; with subprocess.STDOUT on standard error, too. Ends the test where it fails."""
    done = subprocess.run(["bash", "-e", "-c", command], stdout=subprocess.PIPE, stderr=errors, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: status {done.returncode}: {done.stderr or done.stdout}")
    return done.stdout

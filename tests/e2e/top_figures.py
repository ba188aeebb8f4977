"""top_figures.py EDENSCOPE PID ARGUMENT...: what `top ARGUMENT...` shows in detail of the heaps of a process, once it has
ended, is what their lines of EDEN_STATS (`own`) say: counts exactly, sizes and times as far as they have digits. Makes
`top.ready` once top observes, and waits for `target`, which has the PID, and `ended`. What still runs keeps top open."""
import json
import os
import re
import sys

from screen import Screen

UNITS = {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
FIGURE = re.compile(r"^ +([\d,]+(?:\.\d+)?)(?: (B|KiB|MiB|GiB|ns|us|ms|s))?  (\w+)", re.M)
CAUSE = re.compile(r"^ +([\d,]+)    (\w+)", re.M)

scope, arguments = sys.argv[1], sys.argv[2:]
screen = Screen([scope, "top", *arguments, "0.2"], lines=100, columns=160)
screen.until("a title", lambda text: "edenscope top:" in text)
with open("top.ready", "w"):
    pass
while not os.path.exists("ended"):
    screen.read(0.1)
with open("target") as file:
    target = int(file.read())
with open("own") as file:
    own = {heap["heap"]: heap for heap in map(json.loads, file) if heap["pid"] == target}


def rows(text):
    return [line for line in text.splitlines() if re.match(rf" *{target} ", line)]


def compare(figures, text):
    compared = 0
    for number, unit, name in FIGURE.findall(text):
        if isinstance(figures.get(name), int):
            step = UNITS[unit] / 10 ** len(number.partition(".")[2])
            shown = float(number.replace(",", "")) * UNITS[unit]
            allowed = 0 if step == 1 else step
            assert abs(shown - figures[name]) <= allowed, f"{name}: {figures[name]} by its own count, {number} {unit}"
            compared += 1
    causes = {name: int(count.replace(",", "")) for count, name in CAUSE.findall(text)}
    assert all(causes.get(name, 0) == count for name, count in figures["full_by_cause"].items()), causes
    assert compared > 20, text


screen.type("ep")
text = screen.until("its heaps have ended", lambda text: len(rows(text)) == len(own) and
                    all("ended" in row for row in rows(text)))
seen = set()
count = len(re.findall(r"^ *\d+ \S", text, re.M))
screen.type("\x1bOH")
for i in range(count):
    screen.type("\r")
    text = screen.until("a heap in detail", lambda text: "allocated_bytes" in text)
    pid, heap = map(int, re.search(r"\[(\d+)\] heap (\d+)", text).groups())
    if pid == target:
        compare(own[heap], text)
        seen.add(heap)
    screen.type("\x7f")
    screen.until("the table", lambda text: len(rows(text)) == len(own))
    screen.type("\x1bOB")
assert seen == set(own), (seen, set(own))
screen.type("q")
assert screen.end() == 0

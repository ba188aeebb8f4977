"""top.py EDENSCOPE ONE TWO THREE: what `top` shows of two processes of `children stay`, whose input is open as 8 and 9, and
of `exercise --wait`, which has ten heaps."""
import os
import re
import signal
import sys
import time

from screen import Screen

scope, one, two, three = sys.argv[1:]
screen = Screen([scope, "top", "-p", f"{one},{two}", "0.2"], lines=24, columns=140)


def rows(text):
    return [line.split() for line in text.splitlines() if re.match(r" *\d+ (first|second)-one ", line)]


def pids(text):
    return [row[0] for row in rows(text)]


screen.until("both processes are rows", lambda text: sorted(pids(text)) == sorted([one, two]))
text = screen.until("their heaps have names", lambda text: all("children" in row for row in rows(text)))
for title in ("PID", "COMMAND", "GC%", "P50 <=", "P99 <=", "LONGEST", "ALLOC/S", "EDEN", "OLD USED", "NOW"):
    assert title in text.splitlines()[2], f"no column {title}"

# The second one collects.
os.write(9, b"\n")
screen.type("l")
screen.until("the one with collections is the first", lambda text: pids(text) == [two, one] and "by longest" in text)
screen.type("p")
screen.until("sorted by process", lambda text: pids(text) == sorted([one, two], key=int) and "by process" in text)

# One heap: what the program will say of it.
screen.type("l")
screen.until("sorted again", lambda text: pids(text) == [two, one])
screen.type("\x1bOH\r")  # home, enter
text = screen.until("the heap in detail", lambda text: "scavenges" in text and "allocated_bytes" in text)
assert f"second-one[{two}] heap 1 'children'" in text, text
screen.resize(120, 140)
bars = [rf" {space} +\[[#. ]{{40}}\]" for space in ("eden", "survivors", "old")]
screen.until("its spaces", lambda text: all(re.search(bar, text) for bar in bars))
screen.resize(24, 140)
screen.type("\x1bOF")
screen.until("its classes", lambda text: re.search(r"\d+  Node\b", text) and re.search(r"\d+  Raw\b", text))
screen.type("\x1b[5~" * 20)
screen.until("the top of the text again", lambda text: "scavenges" in text)
for size in ((5, 20), (2, 9), (1, 1), (50, 200), (24, 80)):
    screen.resize(*size)
    screen.until(f"something at {size}", lambda text: text.strip() != "" or size == (1, 1))
screen.type("\x1b")
screen.until("the table again", lambda text: len(rows(text)) == 2)
for size in ((3, 200), (24, 30), (10, 12), (30, 300), (24, 100)):
    screen.resize(*size)
    screen.until(f"a table at {size}", lambda text: "PID" in text)
    width = max(len(line.rstrip()) for line in screen.screen.display)
    assert width <= size[1], f"{width} columns of {size[1]}"

screen.type("/first")
screen.until("the filter is shown as it is typed", lambda text: "show heaps with: first_" in text)
screen.until("one is filtered", lambda text: pids(text) == [one])
screen.type("\r")
screen.until("how many", lambda text: '1 heap with "first"' in text)
screen.type("/\x1b")
screen.until("all again", lambda text: len(rows(text)) == 2)
screen.type(" ")
screen.until("frozen", lambda text: "frozen" in text)
screen.type(" ")
screen.until("no longer frozen", lambda text: "frozen" not in text)
screen.type("h")
screen.until("the keys", lambda text: "sort by the share" in text)
screen.type("\x7f")
screen.until("the table once more", lambda text: len(rows(text)) == 2)

os.write(9, b"\n")
screen.until("one has ended", lambda text: pids(text) == [one] and "1 ended" in text)
screen.type("e")
screen.until("those that have ended are shown, too", lambda text: len(rows(text)) == 2 and "ended" in text)
with open("said-2") as file:
    said = [int(word) for word in file.read().split()]
screen.type("l\x1bOH\r")
text = screen.until("the one that has ended, in detail", lambda text: f"second-one[{two}] heap 1" in text)
figures = {found[2]: int(found[1]) for found in re.finditer(r"^ +(\d+)  (\w+)", text, re.M)}
assert (figures["scavenges"], figures["full_collections"]) == (said[1], 1), (figures, said)
screen.type("q")
status = screen.end()
assert status == 0, f"status {status}\n{screen.text()}"

# A process with several heaps, summed up.
screen = Screen([scope, "top", "-p", three, "0.2"], lines=24, columns=140)
screen.until("its heaps", lambda text: len(re.findall(rf"(?m)^ *{three} ", text)) == 10)
screen.type("s")
text = screen.until("one row", lambda text: len(re.findall(rf"(?m)^ *{three} ", text)) == 1)
assert re.search(rf"{three} .* 10 heaps .* 5\.00 MiB ", text), text  # eight edens of 256 KiB, one of 1 MiB, one of 2 MiB
screen.type("/pol\r")
text = screen.until("that of one heap", lambda text: '1 heap with "pol"' in text)
assert re.search(rf"{three} .* policy .* 2\.00 MiB ", text), text
screen.type("/\x1b")
screen.until("all again", lambda text: "10 heaps" in text)
screen.type("\r")
text = screen.until("the heaps in detail", lambda text: "edenscope top: the heaps of a process" in text and "'ages'" in text)
screen.type("\x1b")
screen.until("the table", lambda text: "10 heaps" in text)
screen.type("s")
screen.until("its heaps again", lambda text: len(re.findall(rf"(?m)^ *{three} ", text)) == 10)
screen.type("q")
assert screen.end() == 0

# A narrow one, and one that is ended by a signal.
screen = Screen([scope, "top", "-p", one, "0.2"], lines=8, columns=40, environment={"NO_COLOR": "1", "LC_ALL": "C"})
screen.until("a row", lambda text: pids(text + " ") == [one] or one in text)
assert all(cell.fg == "default" for line in screen.screen.buffer.values() for cell in line.values()), "colours"
os.kill(screen.pid, 15)
assert screen.end() == 0

# A terminal that takes no output holds whoever writes to it: the second signal ends `top`.
screen = Screen([scope, "top", "-p", one, "0.1"])
screen.until("the row", lambda text: len(rows(text)) == 1)
for i in range(2000):
    screen.resize(20 + i % 60, 80 + i % 90)
    screen.type("h" if i % 2 else "\x7f")
    with open(f"/proc/{screen.pid}/wchan") as file:
        if file.read() == "wait_woken" and i > 200:
            break
for _ in range(2):
    os.kill(screen.pid, signal.SIGTERM)
    time.sleep(0.2)
end = time.monotonic() + 60
while os.waitpid(screen.pid, os.WNOHANG)[0] == 0:
    assert time.monotonic() < end, "top does not end on a terminal that takes no output"
    time.sleep(0.05)
os.write(8, b"\n\n")

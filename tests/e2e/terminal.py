"""terminal.py EDENSCOPE EXERCISE HOSTILE STILL WORK...: what each command shows on a terminal, beside what a pipe gets. There are
one.data, two.data and all.data; the process STILL does nothing; the program HOSTILE has names that steer terminals; WORK
is a short command."""
import fcntl
import json
import os
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios

from wcwidth import wcswidth

scope, exercise, program, still, *work = sys.argv[1:]
WIDTHS = (40, 60, 80, 120, 200)
STYLE = re.compile(r"\x1b\[(?:0|1|2|1;31|32|33)m")
statuses = {}  # of what ran with a pipe
CLEAN = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}


def read_all(terminal, tool):
    """What a tool prints on this terminal until it ends. The caller holds the terminal's other end open, too: once nobody
    does, a read can fail before it gives what was written last."""
    ended, text = os.pidfd_open(tool.pid), b""
    while ended not in select.select([terminal, ended], [], [])[0] or select.select([terminal], [], [], 0)[0]:
        text += os.read(terminal, 65536)
    os.close(ended)
    return text


def shown(columns, *arguments, of="stdout", wanted=0, tool=scope, **environment):
    """What a command prints on a terminal of so many columns; its other output goes elsewhere."""
    ours, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    other = tempfile.TemporaryFile()
    streams = {"stdout": other, "stderr": other} | {of: its}
    process = subprocess.Popen([tool, *arguments], env=CLEAN | {"TERM": "xterm-256color"} | environment, **streams)
    text = read_all(ours, process)
    os.close(its)
    os.close(ours)
    other.seek(0)
    status = process.wait()
    assert status == wanted or wanted is None and status >= 0, (arguments, status, text, other.read())
    return text.decode().replace("\r\n", "\n")


def piped(*arguments, of="stdout", **environment):
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | {of: subprocess.PIPE}
    tool = subprocess.Popen([scope, *arguments], env=CLEAN | environment, **streams)
    text = b"".join(tool.communicate()[i] or b"" for i in range(1)) if of == "stdout" else tool.communicate()[1]
    statuses[arguments] = tool.returncode
    return text.decode()


def check_width(text, columns, command):
    """A word that is wider is left to the terminal, and so are a line to be pasted, and what WORK prints."""
    for line in text.split("\n"):
        is_spared = len(line.lstrip("# ").split()) <= 1 or "EDEN_OPTIONS=" in line or line.startswith("survivors: ")
        assert is_spared or wcswidth(line) <= columns, (command, columns, line)


def words(text):
    """All but what follows from the width: marks of notes, and bars."""
    return [word for word in text.split() if not re.fullmatch(r"[#+]+", word)]


def check_whole(text, whole, command, columns):
    """All words of the pipe are there, in their order; behind an ellipsis some are missing, none that is a number."""
    left, cut = iter(words(whole)), 0
    for word in words(text):
        piece = next(left, None)
        if word.endswith("…"):
            cut += 1
            assert piece and piece.startswith(word[:-1]), (command, columns, word, piece)
            continue
        while piece is not None and piece != word and cut:
            assert not re.fullmatch(r"[0-9.,]+%?", piece), (command, columns, word, piece)
            piece = next(left, None)
        assert piece == word, (command, columns, word, piece, text)
    rest = list(left)
    assert not rest or text.rstrip().endswith("…"), (command, columns, rest)
    return cut


views = [view["name"] for view in json.loads(piped("report", "-i", "one.data", "--view", "list", "--json"))["views"]]
lives = ["percentiles", "density", "histogram", "heatmap", "tenured", "nepotism"]
same = [  # what says the same each time
    ["report", "-i", "one.data"],
    ["report", "-i", "all.data"],
    ["report", "--view", "list"],
    *(["report", "-i", "one.data", "--view", view] for view in views),
    *(["lifetimes", "-i", "one.data", "--view", view] for view in lives),
    ["lifetimes", "-i", "all.data", "--view", "percentiles"],
    ["lifetimes", "-i", "one.data"],
    ["tune", "-i", "one.data"],
    ["tune", "-i", "all.data"],
    ["diff", "two.data", "all.data"],
    ["diff", "one.data", "two.data", "all.data", "one.data"],
    ["simulate", "-i", "all.data", "eden_size=2M,4M", "full_gc_ratio=0,0.5"],
    ["script", "-i", "all.data", "--probe", "scavenge__done"],
    ["list", exercise],
    ["list", "-p", still, "--params", "--classes"],
    ["--help"],
    *([command, "--help"] for command in ("list", "stat", "top", "record", "report", "script", "lifetimes", "histo",
                                          "remembered", "tune", "simulate", "diff", "export", "doctor")),
]
cut = styled = 0
for command in same:
    whole = piped(*command)
    assert "\x1b" not in whole and whole, command
    for columns in WIDTHS:
        plain = shown(columns, *command, wanted=statuses[tuple(command)], NO_COLOR="1")
        assert "\x1b" not in plain, command
        check_width(plain, columns, command)
        cut += check_whole(plain, whole, command, columns)
        if columns == 80:
            colored = shown(columns, *command, wanted=statuses[tuple(command)])
            styled += colored != plain
            assert STYLE.sub("", colored) == plain, command
    if command[0] not in ("tune", "lifetimes"):  # bars and paragraphs have a width of their own
        wide = shown(1000, *command, wanted=statuses[tuple(command)], NO_COLOR="1")
        assert words(wide) == words(whole), (command, wide, whole)
assert cut > 10 and styled > 20, (cut, styled)
print(f"{len(same)} outputs fit {len(WIDTHS)} widths")

changing = [
    ["stat", "--", exercise],
    ["stat", "0.1", "--", exercise],
    ["stat", "-T", "-p", still, "0.05", "3"],
    ["lifetimes", "--", exercise],
    ["remembered", "--", exercise],
    ["histo", "--", exercise],
    ["tune", "--", *work],
    ["tune", "--verify", "--pairs", "1", "--options", "eden_size=1M", "--", *work],
    ["tune", "--search", "--trials", "4", "--options", "eden_size=1M", "--", *work],
    ["list"],
    ["doctor"],
]
for command in changing:
    for columns in (40, 80) if command[0] != "tune" else (50,):
        text = shown(columns, *command, wanted=None)
        assert text, command
        check_width(STYLE.sub("", text), columns, command)
print(f"and {len(changing)} that change from run to run")

# Names of strangers, with colours and without.
os.mkdir("programs")
stranger = subprocess.Popen([program, "names", "programs"], stdout=subprocess.PIPE)
assert b"ready" in stranger.stdout.readline()
hostile = str(stranger.pid)
for command in (["list"], ["list", "-p", hostile, "--params", "--classes"], ["stat", "-p", hostile, "0.1", "2"],
                ["lifetimes", "-p", hostile, "0.2"], ["histo", "-p", hostile, "--collect", "1"]):
    for columns in (40, 120):
        text = shown(columns, *command, wanted=None, NO_COLOR="1")
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text), (command, text)
        text = STYLE.sub("", shown(columns, *command, wanted=None))
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text), (command, text)
        check_width(text, columns, command)
stranger.kill()
stranger.wait()
print("hostile names emit no sequence")

# Who decides about colours.
report = ["report", "-i", "one.data"]
plain = shown(100, *report, NO_COLOR="yes")
for arguments, environment, is_styled in (
    ([], {}, True), ([], {"NO_COLOR": ""}, True), ([], {"TERM": "dumb"}, False), ([], {"TERM": ""}, False),
    (["--color=never"], {}, False), (["--color", "auto"], {}, True), (["--color=auto"], {"NO_COLOR": "1"}, False),
    (["--color=always"], {"NO_COLOR": "1", "TERM": "dumb"}, True),
):
    text = shown(100, *report, *arguments, **environment)
    assert ("\x1b" in text) == is_styled, (arguments, environment)
    assert STYLE.sub("", text) == plain, (arguments, environment)
colored = piped(*report, "--color=always")
assert colored != piped(*report) == STYLE.sub("", colored)
for data in (["--json"], ["--view", "pauses", "-x", ";"], ["--view", "pauses", "--json"]):
    assert "\x1b" not in piped(*report, *data, "--color=always"), data
    assert shown(40, *report, *data, "--color=always") == piped(*report, *data), data
for view in ("csv", "ndjson", "folded"):
    command = ["lifetimes", "-i", "one.data", "--view", view]
    assert shown(40, *command).replace("\r", "") == piped(*command).replace("\r", ""), view
assert "give auto, always or never" in piped("report", "--color=sometimes", of="stderr")
print("NO_COLOR, TERM and --color are obeyed")

# Messages are folded, too; the size is that of COLUMNS where the terminal has none.
command = ["record", "-o", "no/such/folder", "--", "true"]
message = piped(*command, of="stderr")
for columns in WIDTHS:
    text = shown(columns, *command, of="stderr", wanted=None, NO_COLOR="1")
    check_width(text, columns, command)
    assert words(text) == words(message), (text, message)
check_width(shown(0, *report, NO_COLOR="1", COLUMNS="50"), 50, report)
assert shown(0, *report, NO_COLOR="1") == piped(*report)
print("messages are folded")

# How far reading has come is said on a terminal, by a tool that does not wait three seconds for it.
impatient = {"tool": os.path.join(os.path.dirname(exercise), "edenscope"), "EDENSCOPE_IMPATIENT": "1", "NO_COLOR": "1"}
for view, what in (["script"], r"edenscope: one\.data: [0-9,]+ of [0-9,]+ events read\n"), (
        ["lifetimes"], r"edenscope: one\.data: [0-9,]+ batches of lifetimes read\n"):
    said = shown(100, *view, "-i", "one.data", of="stderr", **impatient)
    assert re.match(what, said), (view, said)
    assert not re.search(what, piped(*view, "-i", "one.data", of="stderr")), view
print("progress is said on a terminal alone")

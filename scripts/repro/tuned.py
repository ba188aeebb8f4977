"""What `edenscope tune` proposes for a data frame that runs with the papers' default parameters, beside what the
authors chose by hand.

A proposal is made once a size, from one recorded run; what it does is measured like any other configuration, in the
same rounds and without the recorder. Where this machine or these rights can't record, it is unknown."""
import json
import subprocess
import tempfile

from repro import page, paper
from repro.lab import say

NAME = "tuned"
CANNOT_RECORD = 2  # docs/edenscope.md, exit statuses


class Proposal:
    """`options`: all that the program is to run with; `changed`: the text of those that tune proposes; `keys`: of its
    findings, in the report's order."""

    def __init__(self, before, found):
        self.changed = found["options"] or ""
        self.options = before | dict(pair.split("=", 1) for pair in self.changed.split(",") if pair)
        self.keys = list(dict.fromkeys(finding["key"] for finding in found["findings"]))


def record(lab, size):
    """Raises RuntimeError if the program fails when recorded, or answers differently than without recording."""
    command, before = lab.frame_command(size), lab.papers()
    lab.frame(size, before)  # a failure below is then the recording's, and the answer is known
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as report:
        tune = [lab.tool, "tune", "--json", "-o", report.name, "--", *command]
        done = subprocess.run(tune, env=lab.environment(before), capture_output=True)
        errors = done.stderr.decode(errors="replace").strip()
        if done.returncode == CANNOT_RECORD:
            say(f"'tuned' is left out, for tune can't record here: {errors}")
            return None
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(tune)} gave status {done.returncode}: {errors}")
        found = json.load(report)
    lab.check_answer(command, done.stdout, " ".join(tune))
    return Proposal(before, found)


def proposal(lab, size):
    """None: not known, for nothing can be recorded here."""
    if size not in lab.proposals:
        lab.proposals[size] = record(lab, size)
    return lab.proposals[size]


def proposals(lab):
    """A table of what is proposed for each size, and why; and a CSV file of it."""
    known = {size: proposal(lab, size) for size in paper.SIZES}
    lab.write("tuned", ["file", "keys", "options"],
              [[size, " ".join(made.keys), made.changed] for size, made in known.items() if made])
    return page.table(["file", "findings", "options proposed"],
                      [[size, *((", ".join(f"`{key}`" for key in made.keys), f"`{made.changed or 'none'}`")
                                if made else ("unknown", "unknown"))] for size, made in known.items()])


def verdict(size, seconds):
    """A sentence: whether GC of the tuned run took at most as long as in each other one. `seconds`: of each by name,
    `NAME` among them unless it is unknown, and `default`."""
    if NAME not in seconds:
        return f"{size}: how much GC a tuned run takes is unknown, for nothing could be recorded."
    def shown(value):
        return f"{value:.3g} s"  # enough digits to differ from others, even if it is small

    here = seconds[NAME]
    others = {name: value for name, value in seconds.items() if name != NAME}
    less = [f"{name} ({shown(value)})" for name, value in others.items() if value < here]
    verdict = f"at most that of each of {', '.join(others)}" if not less else f"more than that of {', '.join(less)}"
    if less and len(less) < len(others):
        verdict += f", and at most that of {', '.join(name for name, value in others.items() if value >= here)}"
    return (f"{size}: tuned GC time, {shown(here)}, is {verdict}; "
            f"of the default's it is {page.percent(here / seconds['default'])}.")

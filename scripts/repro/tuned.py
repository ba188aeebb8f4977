"""What `edenscope tune` proposes for a data frame that runs with the papers' default parameters, beside what the
authors chose by hand.

As the authors did, it goes by steps: the program runs with what was proposed, is recorded again, and so on until nothing
new is proposed, for what is cured may uncover what it hid. A proposal is made once a file; what it does is measured like
any other configuration, in the same rounds and without the recorder. Where this machine or these rights can't record, it
is unknown."""
import json
import subprocess
import tempfile

from repro import page, paper
from repro.lab import say

NAME = "tuned"
CANNOT_RECORD = 2  # docs/edenscope.md, exit statuses


MOST_STEPS = 4


class Proposal:
    """`options`: all that the program is to run with; `steps`: of each, what tune proposes, and the keys of its
    findings in the report's order."""

    def __init__(self, before):
        self.options, self.steps = before, []

    def add(self, found):
        """Is there anything new?"""
        text = found["options"] or ""
        changed = self.options | dict(pair.split("=", 1) for pair in text.split(",") if pair)
        if changed == self.options:
            return False
        self.steps.append((text, list(dict.fromkeys(finding["key"] for finding in found["findings"]))))
        self.options = changed
        return True

    @property
    def changed(self):
        """All that was proposed, the last value of each."""
        merged = {}
        for text, _ in self.steps:
            merged |= dict(pair.split("=", 1) for pair in text.split(","))
        return ",".join(f"{name}={value}" for name, value in merged.items())


def report(lab, name, options):
    """Raises RuntimeError if the program fails when recorded, or answers differently than without recording. None:
    nothing can be recorded here."""
    command = lab.frame_command(name)
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as report:
        tune = [lab.tool, "tune", "--json", "-o", report.name, "--", *command]
        done = subprocess.run(tune, env=lab.environment(options), capture_output=True)
        errors = done.stderr.decode(errors="replace").strip()
        if done.returncode == CANNOT_RECORD:
            say(f"'tuned' is left out, for tune can't record here: {errors}")
            return None
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(tune)} gave status {done.returncode}: {errors}")
        found = json.load(report)
    lab.check_answer(command, done.stdout, " ".join(tune))
    return found


def record(lab, name):
    before = lab.papers(lab.scale_of(name))
    lab.frame(name, before)  # a failure below is then the recording's, and the answer is known
    made = Proposal(before)
    for _ in range(MOST_STEPS):
        found = report(lab, name, made.options)
        if found is None:
            return None
        if not made.add(found):
            break
    return made


def proposal(lab, size):
    """None: not known, for nothing can be recorded here."""
    if size not in lab.proposals:
        lab.proposals[size] = record(lab, size)
    return lab.proposals[size]


def proposals(lab):
    """A table of what is proposed for each size, and why; and a CSV file of it."""
    known = {size: proposal(lab, size) for size in paper.FILES}
    lab.write("tuned", ["file", "step", "keys", "options"],
              [[size, number, " ".join(keys), text] for size, made in known.items() if made
               for number, (text, keys) in enumerate(made.steps, 1)])
    return page.table(["file", "step", "findings", "options proposed"], [
        [size, number, ", ".join(f"`{key}`" for key in keys), f"`{text}`"] for size, made in known.items() if made
        for number, (text, keys) in enumerate(made.steps, 1)] + [
        [size, "unknown", "unknown", "unknown"] for size, made in known.items() if not made])


def verdict(size, runs):
    """A sentence: which of the other runs take less GC time than the tuned one, and how do these compare in memory?
    `runs`: GC seconds and resident bytes of each, by name."""
    if NAME not in runs:
        return f"{size}: how much GC a tuned run takes is unknown, for nothing could be recorded."
    def shown(value):
        return f"{value:.3g} s"  # enough digits to differ from others, even if it is small

    gc, memory = runs[NAME]
    others = {name: value for name, (value, _) in runs.items() if name != NAME}
    less = [f"{name} ({shown(value)}, {page.megabytes(runs[name][1])} MB)" for name, value in others.items()
            if value < gc]
    verdict = (f"more than that of {', '.join(less)}" if less else f"at most that of each of {', '.join(others)}")
    smaller = [name for name in others if runs[name][1] < memory]
    verdict += f", and {', '.join(smaller)} use{'s' if len(smaller) == 1 else ''} less memory" if smaller and not less else ""
    return (f"{size}: GC time of `{NAME}`, {shown(gc)} in {page.megabytes(memory)} MB, is {verdict}. "
            f"It is {page.percent(gc / others['default'])} of the default's.")

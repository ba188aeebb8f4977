"""What `edenscope tune` proposes for a data frame that runs with the papers' default parameters, beside what the
authors chose by hand; as it likes, and within the memory that each of their configurations takes.

The default run is recorded once. As the authors did, it goes by steps: the program runs with what was proposed, is
recorded again, and so on until nothing new is proposed, for what is cured may uncover what it hid. What a proposal does
is measured like any other configuration, in the same rounds and without the recorder. Where this machine or these
rights can't record, it is unknown."""
import json
import os
import subprocess
import tempfile

from repro import page, paper
from repro.lab import OutOfMemory, say

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


def observe(lab, command, options, program):
    """Runs edenscope on a program, which answers as it does without. False: nothing can be recorded here."""
    done = subprocess.run([lab.tool, *command, "--", *program], env=lab.environment(options), capture_output=True)
    errors, shown = done.stderr.decode(errors="replace").strip(), " ".join([lab.tool, *command, "--", *program])
    if done.returncode == CANNOT_RECORD:
        say(f"'{NAME}' is left out, for tune can't record here: {errors}")
        return False
    if done.returncode != 0:
        raise (OutOfMemory if "out of memory" in errors else RuntimeError)(
            f"{shown} gave status {done.returncode}: {errors}")
    lab.check_answer(program, done.stdout, shown)
    return True


def recording(lab, name):
    """Of the default run. None: nothing can be recorded here."""
    if name not in lab.recordings:
        path, options = os.path.join(lab.data, f"{name.replace(' ', '-')}.data"), lab.papers(lab.scale_of(name))
        lab.frame(name, options)  # a failure below is then the recording's, and the answer is known
        is_there = observe(lab, ["record", "--lifetimes=details", "-o", path], options, lab.frame_command(name))
        lab.recordings[name] = path if is_there else None
    return lab.recordings[name]


def of_recording(lab, path, limit):
    """None: the heap that was recorded does not fit the limit."""
    done = subprocess.run([lab.tool, "tune", "--json", *limit, "-i", path], capture_output=True, text=True)
    if done.returncode != 0 and "does not fit" not in done.stderr:
        raise RuntimeError(f"edenscope tune -i {path} gave status {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout) if done.returncode == 0 else None


def again(lab, name, options, limit):
    """What tune says of a run with other options."""
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as report:
        command = ["tune", "--json", *limit, "-o", report.name]
        return json.load(report) if observe(lab, command, options, lab.frame_command(name)) else None


def propose(lab, name, most):
    path, limit = recording(lab, name), [] if most is None else ["--max-heap", str(most)]
    found, made = of_recording(lab, path, limit) if path else None, Proposal(lab.papers(lab.scale_of(name)))
    if not found:
        return None
    while made.add(found) and len(made.steps) < MOST_STEPS:
        found = again(lab, name, made.options, limit)
        if found is None:
            return None
    return made


def proposal(lab, name, most=None):
    """`most`: bytes of the heap. None: not known, for nothing can be recorded here; or it does not fit."""
    if (name, most) not in lab.proposals:
        try:
            lab.proposals[name, most] = propose(lab, name, most)
        except OutOfMemory as failure:
            say(f"'{NAME}' in {most} bytes: {failure}")
            lab.proposals[name, most] = None
    return lab.proposals[name, most]


def proposals(lab):
    """A table of what is proposed for each size, and why; and a CSV file of it."""
    known = {name: proposal(lab, name) for name in paper.FILES}
    lab.write("tuned", ["file", "step", "keys", "options"],
              [[name, number, " ".join(keys), text] for name, made in known.items() if made
               for number, (text, keys) in enumerate(made.steps, 1)])
    return page.table(["file", "step", "findings", "options proposed"], [
        [name, number, ", ".join(f"`{key}`" for key in keys), f"`{text}`"] for name, made in known.items() if made
        for number, (text, keys) in enumerate(made.steps, 1)] + [
        [name, "unknown", "unknown", "unknown"] for name, made in known.items() if not made])


def shown(value):
    return f"{value:.3g} s"  # enough digits to differ from others, even if it is small


def share_of(value, whole):
    return f"{100 * value / whole:.2g}%"


def verdict(name, runs, within):
    """Which of the other runs take less GC time than the tuned one, and than what tune proposes in their memory? `runs`:
    GC seconds and resident bytes of each setting; `within`: GC seconds of a tuned run in
    the memory of each, None where it does not fit."""
    if NAME not in runs:
        return f"{name}: how much GC a tuned run takes is unknown, for nothing could be recorded."
    gc, memory = runs[NAME]
    others = {setting: value for setting, (value, _) in runs.items() if setting != NAME}
    less = [f"{setting} ({shown(value)}, {page.megabytes(runs[setting][1])} MB)" for setting, value in others.items()
            if value < gc]
    compared = (f"more than that of {', '.join(less)}" if less else f"at most that of each of {', '.join(others)}")
    more = [f"{setting} ({'does not fit' if value is None else shown(value)})" for setting, value in within.items()
            if value is None or value > others[setting]]
    in_their_memory = (f"more than theirs in that of {', '.join(more)}" if more
                       else f"at most theirs in that of each of {', '.join(within)}")
    return (f"{name}: GC time of `{NAME}`, {shown(gc)} in {page.megabytes(memory)} MB, is {compared}. With their memory "
            f"as --max-heap, it is {in_their_memory}. Without a limit, it is {share_of(gc, others['default'])} of the "
            "default's.")

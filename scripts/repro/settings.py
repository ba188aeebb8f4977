"""The parameters that a data frame is loaded with: the papers', and Eden's own answers in the same run."""
import os

from repro import paper, tuned
from repro.lab import OutOfMemory, say

DEFAULT, STEP_1, AUTHORS = "default", "step 1", "authors'"
FIXED, AUTO = "policy=fixed", "policy=auto"
# This collector's own parameters, each of them: a run of a later version has them, too.
OWN = paper.VM | {"eden_size": "16M", "remembered_set": "card", "compactor": "selective", "compat.overflow": "oldest",
                  "compat.tenured_scan": "latest-first", "compat.growth": "needed", "large_object": "512K"}
HAND_MADE = [DEFAULT, *list(paper.CONFIGURATIONS)[1:]]
STEPS = [DEFAULT, STEP_1, AUTHORS]
MOST_TRIES, SMALL = 4, 200e6
OURS = [tuned.NAME, FIXED, AUTO]


def options(lab, name, setting):
    """None: not known, for nothing can be recorded here."""
    scale = lab.scale_of(name)
    if setting == tuned.NAME:
        made = tuned.proposal(lab, name)
        return made.options if made else None
    if setting == AUTO:
        return {"policy": "auto", "gc_threads": 1} | lab.scaled({"large_object": paper.LARGE_OBJECT}, scale)
    if setting == FIXED:
        return OWN | lab.scaled({"eden_size": 16 * paper.MIB, "grow_headroom": 16 * paper.MIB,
                                 "shrink_threshold": 32 * paper.MIB, "large_object": paper.LARGE_OBJECT}, scale)
    if setting in paper.CONFIGURATIONS:
        return lab.papers(scale, paper.CONFIGURATIONS[setting])
    headroom = os.path.getsize(lab.file(name)) / scale  # of the file at scale 1: it is scaled like all sizes
    given = {"full_gc_ratio": "inf", "grow_headroom": headroom}
    return lab.papers(scale, given | ({"survivors_to_keep": str(paper.KEEP_ALL)} if setting == AUTHORS else {}))


def run(lab, name, setting):
    """None: not known."""
    given = options(lab, name, setting)
    return lab.frame(name, given) if given else None


def run_within(lab, name, setting, done):
    """One of our answers, in the memory that another run took at most: what its heap had, of that what was resident; and
    less, where more of the process is resident then. Of a small heap that says nothing: a process has been at least as
    large as the one that started it. None: it does not fit."""
    most, counts = min(done.heap_bytes, done.resident_bytes), done.heap_bytes > SMALL
    for _ in range(MOST_TRIES):
        if setting == tuned.NAME:
            made = tuned.proposal(lab, name, most)
            given = made.options if made else None
        else:
            given = options(lab, name, setting) | {"max_heap": most}
        try:
            run_there = lab.frame(name, given) if given else None
        except OutOfMemory as failure:
            say(f"{setting} in {most} bytes: {failure}")
            return None
        if not run_there or not counts or run_there.resident_bytes <= done.resident_bytes:
            return run_there
        most -= run_there.resident_bytes - done.resident_bytes
        if most <= 0:
            break
    say(f"{setting}: not within {done.resident_bytes} bytes")
    return None

"""Lifetimes paper, figures 4 and 5: densities of lifetimes, by memory and by objects. scripts/lifetimes-tables makes
them, from a profile of all objects (root)."""
import csv
import os
import shutil
import subprocess

from repro import page, paper
from repro.lab import put_on_one_line

SIZE = "529 MB"


def run(lab):
    folder = os.path.join(lab.data, "lifetimes-frame")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lifetimes-tables")
    options = ",".join(f"{name}={value}" for name, value in lab.papers().items())
    command = [script, "-B", lab.build, "--programs", "dataframe", "--samplings", "all", "-o", folder, lab.file(SIZE)]
    done = subprocess.run(command, env=os.environ | {"EDEN_OPTIONS": options}, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} gave status {done.returncode}: {done.stderr.strip()}")
    picture = os.path.join(lab.figures, "figure-4-5-lifetimes.svg")
    shutil.copyfile(os.path.join(folder, "dataframe", "100.density.svg"), picture)
    put_on_one_line(picture)
    with open(os.path.join(folder, "runs.csv"), newline="", encoding="utf-8") as file:
        profile = next(csv.DictReader(file))
    long = [float(profile[key]) for key in ("long_lived_objects", "long_lived_memory")]
    lab.write("lifetimes", ["objects", "bytes", "long_lived_objects", "long_lived_memory", "die_young"],
              [[profile["objects"], profile["memory_bytes"], *long, profile["die_young"]]])
    return "\n\n".join([
        f"![figure-4-5]({os.path.basename(lab.figures)}/figure-4-5-lifetimes.svg)",
        page.table(["long-lived", "paper", "here"],
                   [["of objects", page.percent(paper.LONG_LIVED[0]), page.percent(long[0])],
                    ["of memory", page.percent(paper.LONG_LIVED[1]), page.percent(long[1])]]),
        f"All objects of the file of {SIZE}, {float(profile['objects']):,.0f} of them; "
        f"{page.percent(float(profile['die_young']))} die before their first scavenge, and the rest lives to the end. "
        "What is alive at the end is censored: shown apart, not as dead. The two humps are the paper's. Less lives "
        "long here. The paper sees what four methods of Smalltalk allocate, and other objects than those not at all, "
        "which may be why; the mix of classes is that of the data frame of FiLiP (ISMM 2024), by the same authors, "
        "where about 85% die at once. `make repro-lifetimes` does the same for all five programs at four rates.",
    ])

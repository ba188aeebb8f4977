"""The five programs that lifetimes are measured on, the rates, and FiLiP's figures for them: Jordan Montaño et al.,
Evaluating Finalization-Based Object Lifetime Profiling, ISMM 2024.
"""
import json
import os
import subprocess

# The rates as arguments of --sampling, and as the paper names them.
RATES = {"all": "100%", "1/2": "50%", "1/100": "1%", "1/1000": "0.1%"}

# Table 5: time over that of the program alone, with plain and with pretenured ephemerons, a figure a rate; and their
# ratios, as it prints them.
PAPER_TIME = {
    "dataframe": {"ephemeron": (5.8, 3.8, 2.25, 2.27), "pretenured": (2.29, 1.64, 1.08, 1.12),
                  "gain": (2.53, 2.32, 2.08, 2.03)},
    "honeyginger": {"ephemeron": (9.2, 8.91, 8.4, 7.8), "pretenured": (3.2, 2.5, 2.2, 1.8),
                    "gain": (2.88, 3.56, 3.82, 4.33)},
    "mobidyc": {"ephemeron": (32.3, 13.8, 9.14, 9.01), "pretenured": (2.06, 1.5, 1.3, 1.25),
                "gain": (15.68, 9.20, 7.03, 7.21)},
    "bloc": {"ephemeron": (1.04, 1.04, 1.04, 1.04), "pretenured": (1.03, 1.03, 1.03, 1.03),
             "gain": (1.01, 1.01, 1.01, 1.01)},
    "moose": {"ephemeron": (3.2, 2.6, 2.02, 2.00), "pretenured": (2.02, 1.6, 1.1, 1.09),
              "gain": (1.58, 1.63, 1.84, 1.84)},
}
PAPER_TIME_MEAN = {"all": 2.12, "1/2": 1.65, "1/100": 1.34, "1/1000": 1.26}  # pretenured
PAPER_GAIN = 3.68  # of pretenured ephemerons over plain ones: the mean of the twenty
# Table 6, an estimate: MB allocated, and the factor of memory, a figure a rate.
PAPER_MEMORY = {"dataframe": (5053.51, (2.36, 1.68, 1.01, 1.001)), "honeyginger": (3312.44, (3.34, 2.25, 1.03, 1.003)),
                "mobidyc": (4906.64, (2.53, 1.75, 1.01, 1.001)), "bloc": (9.86, (2.9, 2.0, 1.02, 1.002)),
                "moose": (3081.95, (2.61, 1.81, 1.02, 1.002))}
PAPER_EPHEMERON = 80  # bytes that it adds for each object sampled, not in its text: derived from Tables 4 and 6


def paper_time(program, mechanism, sampling):
    return PAPER_TIME[program][mechanism][list(RATES).index(sampling)]


# Arguments of the programs; dataframe's is a file.
FULL = {
    "dataframe": ["--image", "0", "--copies", "3"],
    "honeyginger": [],
    "mobidyc": [],
    "bloc": ["--frames", "60000"],  # a second or so; the paper's program allocates a hundredth
    "moose": [],
}
SMALL = {
    "dataframe": ["--image", "0", "--copies", "3"],
    "honeyginger": ["--columns", "10", "--rows", "10", "--steps", "50"],
    "mobidyc": ["--width", "40", "--height", "40", "--goats", "400", "--wolves", "40", "--steps", "40"],
    "bloc": [],
    "moose": ["--classes", "100"],
}


def command(name, arguments, build, data):
    return [os.path.join(build, "workloads", name), *arguments[name], *([data] if name == "dataframe" else [])]


def chosen(words, known, what):
    """The words of a choice, in their order; None where one is not known, after saying so."""
    words = words.replace(",", " ").split()
    for word in words:
        if word not in known:
            raise ValueError(f"{word}: not one of the {what} {', '.join(known)}")
    return words or list(known)


def lifetimes(build, sampling, output, *arguments):
    """The words that a program's command is appended to."""
    return [os.path.join(build, "bin", "edenscope"), "lifetimes", "--sampling", sampling, *arguments, "-o", output, "--"]


def record(build, sampling, output, mechanism, what="--lifetimes=details"):
    """Likewise: a recording, of every sampled object, or of their sums."""
    return [os.path.join(build, "bin", "edenscope"), "record", what, "--sampling", sampling,
            "--mechanism", mechanism, "-o", output, "--"]


def run(words, environment=None):
    """Raises RuntimeError where the command fails."""
    done = subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)} gave status {done.returncode}: {done.stderr.strip()}")


def read_back(build, recording, output, *form):
    """Writes what `lifetimes` prints of a recording, by default JSON, to a file."""
    run([os.path.join(build, "bin", "edenscope"), "lifetimes", *(form or ["--json"]), "-i", recording, "-o", output])


def problems(seen, sampling, mechanism="vm"):
    """What is wrong with a profile (the object of `lifetimes --json`), as a list of phrases: where it is empty, nothing
    was lost, every object that was born has died or was alive at the end, and it was done as it was asked for."""
    found = []
    profiled = [heap for heap in seen["heaps"] if heap["profiled"]]
    if seen["lost"] != 0:
        found.append(f"{seen['lost']} lost")
    if not profiled:
        found.append("no heap was profiled")
    for heap in profiled:
        if (heap["sampling"], heap["mechanism"]) != (sampling, mechanism):
            found.append(f"heap {heap['heap']} sampled {heap['sampling']} with {heap['mechanism']}")
        if not heap["ended"]:
            found.append(f"the profile of heap {heap['heap']} has not ended")
    for row in seen["classes"] + seen["sites"]:
        if row["births"] != row["deaths"] + row["censored"] or row["unreported"] != 0:
            found.append(f"{row['name']}: {row['births']} born, {row['deaths']} dead, {row['censored']} censored, "
                         f"{row['unreported']} unreported")
    return found


def load(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def write_whole(name, text):
    """The file appears whole or not at all."""
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(name + ".new", name)


def profile(build, sampling, output, program, *arguments):
    """Runs a program under `edenscope lifetimes`, whose output goes to a file."""
    run(lifetimes(build, sampling, output, *arguments) + program)

"""Running programs on the collector, and keeping what was measured.

The papers' sizes are SCALE 1. At a smaller one the data sets shrink, and with them every parameter that is a size: a
heap of a hundredth with an eden of a hundredth has as many collections, which is what tables and figures are about.
Parameters have least values (docs/parameters.md); a size below it is the least.
"""
import contextlib
import csv
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import life_programs
from repro import paper

LEAST = {"eden_size": 64 << 10, "grow_headroom": 64 << 10, "shrink_threshold": 0, "large_object": 4 << 10}
FRAME_MEMORY = 5  # times the file: more than a process that loads it takes with any parameters here
LEAST_SCALE = 0.005  # below it the default eden would be less than an eden can be
LEAST_LARGE = 0.1 / 16  # of the file at a tenth: its Arrays fill a power of two as they do at a tenth


class Run:
    """What one run of a program with one heap gave: its figures (docs/figures.md), the lines of its log (docs/log.md),
    its wall time and its processor time in seconds. Of a data frame: of the load alone, without the image.

    The collector measures by the clock, which runs on while something else has the processor. That happens to
    collections as to the rest, so the share of GC is that of wall time, and GC time is that share of processor time."""

    def __init__(self, figures, log, wall, processor, read_ns=None):
        self.figures, self.log, self.wall, self.processor = figures, log, wall, processor
        self.read_ns = read_ns  # of a data frame: when the file was read (paper A's point P)
        self.resident_bytes = 0  # of the whole process, at its peak
        self.scavenges, self.fulls = self.of("scavenge"), self.of("full")
        self.gc_ns = sum(line["duration_ns"] for line in self.scavenges + self.fulls)

    def __getitem__(self, name):
        return self.figures[name]

    def seconds(self, ns):
        """Processor time, of what took so long by the clock."""
        return ns / 1e9 / self.wall * self.processor

    @property
    def gc_seconds(self):
        return self.seconds(self.gc_ns)

    @property
    def gc_share(self):
        return self.gc_ns / 1e9 / self.wall

    def of(self, kind):
        return [line for line in self.log if line["kind"] == kind]

    def caused(self, cause):
        return sum(line["cause"] == cause for line in self.fulls)

    def scavenge_us(self, is_after=None):
        """Mean time of a scavenge; of those before or after the file was read."""
        chosen = [line["duration_ns"] for line in self.scavenges
                  if is_after is None or (line["time_ns"] > self.read_ns) == is_after]
        return self.seconds(sum(chosen)) * 1e6 / max(1, len(chosen))

    @property
    def heap_bytes(self):
        """The heap at its largest: new space (7/5 of eden), and the most old space that a collection, or the end, found
        mapped."""
        return self["eden_size"] * 7 // 5 + max(
            self["old_capacity"], *(line["old_capacity"] for line in self.scavenges + self.fulls))


class OutOfMemory(RuntimeError):
    """A program whose heap, with its limit, had no room."""


def say(text):
    print(f"reproduce: {text}", file=sys.stderr, flush=True)


def spawn(command, environment, folder):
    """Runs a command to its end. Its status, its use of the machine, its output and its errors."""
    with open(os.path.join(folder, "out"), "w+b") as out, open(os.path.join(folder, "err"), "w+b") as err:
        with subprocess.Popen(command, env=environment, stdout=out, stderr=err) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return process.returncode, used, out.read(), err.read()


def touch(size):
    """Writes to so much memory, in a process of its own. A virtual machine pays its host for memory that it has not used for
    a while: else a first run would pay, with several times as long in its scavenges, and later ones would not."""
    size = min(size, os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)
    if size:
        words = "import mmap, sys; mmap.mmap(-1, int(sys.argv[1]), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE)"
        subprocess.run([sys.executable, "-c", words, str(size)], check=False)


def read_lines(name):
    if not os.path.exists(name):
        return []
    with open(name, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def of_the_load(figures, log, errors):
    """A Run of a data frame's load, by the moments that --progress prints."""
    at = {line["done"]: line for line in map(json.loads, errors.decode().splitlines())}
    begin, end = at["image"], at["build"]
    lines = [line for line in log if begin["time_ns"] < line["time_ns"] < end["time_ns"]]
    return Run(figures, lines, (end["time_ns"] - begin["time_ns"]) / 1e9,
               (end["processor_ns"] - begin["processor_ns"]) / 1e9, at["read"]["time_ns"])


def put_on_one_line(path):
    """Rewrites an SVG of gnuplot's without the white space between its elements."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"\s*\n\s*", " ", file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"> ?<", "><", text).strip() + "\n")


class Lab:
    """`scale`: 1 is the papers' sizes. `build`: the folder of what was built.
    `data`: where CSV files go. `figures`: where SVGs go. `large`: the scale of the file of many columns; None: a tenth.

    Of a run that is done several times the shortest counts, and since a machine is busy for a while and then is not,
    they are done in rounds: all experiments once, then all again."""

    def __init__(self, scale, build, data, figures, large=None):
        self.scale, self.build, self.data, self.figures, self.large = scale, build, data, figures, large
        self.runs = {}
        self.fresh = set()
        self.answers = {}
        self.recordings, self.proposals = {}, {}  # tuned.py
        for folder in (data, figures):
            os.makedirs(folder, exist_ok=True)

    @functools.cached_property
    def tenth(self):
        """The same at a tenth of the scale, for figures of many runs."""
        return Lab(max(LEAST_SCALE, self.scale / 10), self.build, self.data, self.figures)

    # ---- sizes and parameters ----------------------------------------------------------------------------------------

    def scale_of(self, name):
        return (self.large or max(LEAST_LARGE, self.scale / 10)) if paper.FILES[name].tenth else self.scale

    @staticmethod
    def scaled(parameters, scale):
        """Parameters of the papers, as this scale has them: numbers are sizes, texts are taken as they are."""
        return {name: max(LEAST[name], round(value * scale)) if isinstance(value, (int, float)) else value
                for name, value in parameters.items()}

    def papers(self, scale, parameters=None):
        """The papers' VM, with their default parameters or with others."""
        return paper.VM | self.scaled({"large_object": paper.LARGE_OBJECT} | paper.DEFAULTS | (parameters or {}), scale)

    def rows(self, name, factor=1):
        return max(1, round(paper.FILES[name].rows * self.scale_of(name) * factor))

    def file(self, name, factor=1):
        """The data set, made if it is not there; `factor`: of its rows."""
        file, rows = paper.FILES[name], self.rows(name, factor)
        path = os.path.join(self.data, f"{name.replace(' ', '-')}-{rows}.csv")
        if not os.path.exists(path):
            shape = {"rows": rows, "columns": file.columns, "text": file.text, "text-bytes": file.text_bytes}
            command = [self.program("mkdata"), *(f"--{key}={value}" for key, value in shape.items())]
            with open(path + ".new", "wb") as out:
                subprocess.run(command, stdout=out, check=True)
            os.replace(path + ".new", path)
        return path

    # ---- runs --------------------------------------------------------------------------------------------------------

    def program(self, name):
        return os.path.join(self.build, "workloads", name)

    @property
    def tool(self):
        return os.path.join(self.build, "bin", "edenscope")

    def frame_command(self, name, factor=1):
        image = paper.IMAGE_MB * self.scale_of(name)
        return [self.program("dataframe"), "--json", "--progress", "1", "--image", f"{image:.3f}",
                self.file(name, factor)]

    def frame(self, name, options, factor=1):
        memory = FRAME_MEMORY * os.path.getsize(self.file(name, factor))
        return self.run(self.frame_command(name, factor), options, of_the_load, memory)

    @staticmethod
    def environment(options, **variables):
        """Of a program that runs with these options, and with these variables."""
        text = ",".join(f"{name}={value}" for name, value in options.items())
        return os.environ | {"EDEN_OPTIONS": text} | variables

    def new_round(self):
        self.fresh.clear()

    def run(self, command, options, measure=None, memory=0):
        """The shortest run so far, after one more if there was none in this round. Raises RuntimeError where the
        program fails, has not just one heap, or answers otherwise than under other options."""
        key = (*command, *options.items())
        if key not in self.fresh:
            self.fresh.add(key)
            touch(memory)
            runs = [self.run_once(command, options, measure), *([self.runs[key]] if key in self.runs else [])]
            self.runs[key] = min(runs, key=lambda run: run.processor)
        return self.runs[key]

    def run_once(self, command, options, measure=None):
        with tempfile.TemporaryDirectory() as folder:
            stats, log = os.path.join(folder, "stats"), os.path.join(folder, "log")
            environment = self.environment(options, EDEN_STATS=stats, EDEN_LOG=log)
            shown = f"EDEN_OPTIONS={environment['EDEN_OPTIONS']} {' '.join(command)}"
            start = time.monotonic()
            status, used, output, errors = spawn(command, environment, folder)
            wall = time.monotonic() - start
            if status != 0:
                kind = OutOfMemory if b"out of memory" in errors else RuntimeError
                raise kind(f"{shown} gave status {status}: {errors.decode(errors='replace')}")
            heaps, lines = read_lines(stats), read_lines(log)
        if len(heaps) != 1:
            raise RuntimeError(f"{shown} had {len(heaps)} heaps, not one")
        self.check_answer(command, output, shown)
        run = measure(heaps[0], lines, errors) if measure else Run(
            heaps[0], lines, wall, used.ru_utime + used.ru_stime)
        run.resident_bytes = used.ru_maxrss << 10
        return run

    def check_answer(self, command, output, shown):
        """Raises RuntimeError unless a program says what it said before."""
        answer = hashlib.sha256(output).hexdigest()
        if self.answers.setdefault(tuple(command), answer) != answer:
            raise RuntimeError(f"{shown} answered otherwise than under other options")

    # ---- lifetimes ---------------------------------------------------------------------------------------------------

    def record_lifetimes(self, sampling, command, environment, what="--lifetimes"):
        """A recording of a run of the command. It is read in several forms: their figures are of one run."""
        path = os.path.join(self.data, "lifetimes.data")
        life_programs.run(life_programs.record(self.build, sampling, path, "vm", what) + command, environment)
        return path

    @contextlib.contextmanager
    def read_lifetimes(self, recording, *form):
        """An open file of what `edenscope lifetimes` prints of a recording."""
        path = os.path.join(self.data, "lifetimes.read")
        life_programs.read_back(self.build, recording, path, *form)
        with open(path, newline="", encoding="utf-8") as file:
            yield file
        os.remove(path)

    # ---- files -------------------------------------------------------------------------------------------------------

    def of_large(self, setting):
        """What `make repro-large` found last of the largest file, under a setting: a row of steps.csv. None: nothing."""
        name = os.path.join(self.build, "repro-large", "steps.csv")
        if not os.path.exists(name):
            return None
        with open(name, newline="", encoding="utf-8") as file:
            return next((row for row in csv.DictReader(file)
                         if paper.FILES[row["file"]].tenth and row["setting"] == setting), None)

    def write(self, name, heads, rows):
        """A CSV file: whole or not at all. Returns its path."""
        path = os.path.join(self.data, name + ".csv")
        with open(path + ".new", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(heads)
            writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
        os.replace(path + ".new", path)
        return path

    def chart(self, name, panels, settings=(), height=400):
        """An SVG by gnuplot, panels one below the other. A panel is a title, lines of gnuplot, and what `plot` plots;
        `settings` hold for all. Returns the Markdown that shows it."""
        path = os.path.join(self.figures, name + ".svg")
        script = [f"set terminal svg size 760,{height * len(panels)} noenhanced background 'white'",
                  f"set output '{path}.new'", "set datafile separator ','", "set key outside bottom center horizontal",
                  "set grid", f"set multiplot layout {len(panels)},1", *settings]
        for title, lines, plots in panels:
            script += [f"set title '{title}'", *lines, "plot " + ", ".join(plots)]
        script.append("unset multiplot")
        done = subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, capture_output=True)
        if done.returncode != 0 or not os.path.exists(path + ".new"):
            raise RuntimeError(f"gnuplot can't draw {name}: {done.stderr.strip()}")
        put_on_one_line(path + ".new")
        os.replace(path + ".new", path)
        return f"![{name}]({os.path.basename(self.figures)}/{name}.svg)"

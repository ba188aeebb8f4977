"""Puts a recording of one heap onto a virtual clock, so that what tune finds in it does not depend on the machine's pace.

The work of each event is counted in the recording: bytes allocated and copied, objects marked, and so on. Here each of
them takes a fixed time, and all times and durations of the recording become sums of these. Counts stay as they are.
"""
import bisect
import sqlite3
import struct

# Nanoseconds for each byte that is allocated, copied, scanned in the remembered set, cleared in weak objects, swept,
# moved by compaction, mapped as a segment; for each copied object that refers to others, each marked object, each
# collection, each event.
ALLOCATE, COPY, SCAN, CLEAR, SWEEP, MOVE, MAP = 1.0, 1.75, 0.2, 0.4, 0.1, 1.0, 0.5
OBJECT, MARK, STOP, EVENT = 50, 15, 15e3, 100
# Where the program's time passes: the probe's argument with the bytes allocated since the last collection.
SINCE = {"scavenge__start": "a7", "full__start": "a6", "heap__destroy": "a2"}
PAUSES = {"scavenge": "scavenge_ns", "full": "full_ns"}
FIGURES = {**PAUSES, "mark": "mark_ns", "scavenge__mark": "mark_ns", "sweep": "sweep_ns",
           "scavenge__sweep": "sweep_ns", "compact": "compact_ns"}
# Where records of lifetimes hold a time: kind of batch, offsets of 64 bits (probes/eden_batches.h).
TIMES = {0: [8, 24], 5: [8], 6: [8]}


def retime(path):
    with sqlite3.connect(path) as db:
        db.row_factory = sqlite3.Row
        clock = Clock(db)
        for row in db.execute("SELECT * FROM event JOIN probe USING(probe) ORDER BY event").fetchall():
            clock.take(row)
        clock.finish()


class Clock:
    def __init__(self, db):
        self.db = db
        self.start = db.execute("SELECT value FROM meta WHERE key = 'mono_ns'").fetchone()[0]
        self.now = self.start
        self.large = 0  # bytes whose time has passed before the next collection counts them
        self.started = {}
        self.sums = dict.fromkeys(FIGURES.values(), 0)
        self.longest = 0
        self.real, self.virtual = [], []
        self.copied = self.of_collections("a3 + a5", "scavenge__done")
        self.capacity = self.of_collections("a4", "full__start")

    def of_collections(self, value, probe):
        rows = self.db.execute(f"SELECT a1, {value} FROM event JOIN probe USING(probe) WHERE name = ?", [probe])
        return dict(map(tuple, rows))

    def cost(self, part, row):
        """What has parts of its own costs what they do."""
        seq, objects, bytes = row["a1"], row["a3"], row["a4"]
        costs = {
            "scavenge__remembered": lambda: bytes * SCAN,
            "scavenge__copy": lambda: self.copied.get(seq, 0) * COPY + objects * OBJECT,
            "scavenge__weak": lambda: bytes * CLEAR,
            "mark": lambda: objects * MARK,
            "sweep": lambda: self.capacity[seq] * SWEEP,
            "compact__move": lambda: bytes * MOVE,
            "scavenge": lambda: STOP,
            "full": lambda: STOP,
        }
        return costs.get(part, lambda: 0)()

    def take(self, row):
        name = row["name"]
        part, _, what = name.rpartition("__")
        self.now += EVENT
        if name in SINCE:
            self.now += max(row[SINCE[name]] - self.large, 0) * ALLOCATE
            self.large = 0
        elif name == "alloc__large":
            self.now += row["a3"] * ALLOCATE
            self.large += row["a3"]
        elif name == "segment__map":
            self.now += row["a2"] * MAP
        elif name == "remembered__scan":
            self.db.execute("UPDATE event SET a6 = ? WHERE event = ?", [round(row["a4"] * 8 * SCAN), row["event"]])
        if what == "start":
            self.started[part] = self.now
        elif what == "done":
            self.end(part, row)
        self.db.execute("UPDATE event SET time_ns = ? WHERE event = ?", [round(self.now), row["event"]])
        self.real.append(row["time_ns"])
        self.virtual.append(self.now)

    def end(self, part, row):
        self.now += self.cost(part, row)
        duration = round(self.now) - round(self.started[part])
        if part in FIGURES:
            self.sums[FIGURES[part]] += duration
        if part in PAUSES:
            self.longest = max(self.longest, duration)
        self.db.execute("UPDATE event SET a2 = ? WHERE event = ?", [duration, row["event"]])

    def at(self, real):
        """The virtual time of a real one, in a line between the events before and after it."""
        i = min(max(bisect.bisect(self.real, real), 1), len(self.real) - 1)
        slope = (self.virtual[i] - self.virtual[i - 1]) / max(self.real[i] - self.real[i - 1], 1)
        return max(round(self.virtual[i - 1] + (real - self.real[i - 1]) * slope), 0)

    def batch(self, row):
        data = bytearray(row["data"])
        for start in range(0, len(data), row["record_bytes"]):
            for offset in TIMES.get(row["kind"], []):
                real, = struct.unpack_from("<Q", data, start + offset)
                struct.pack_into("<Q", data, start + offset, self.at(real))
        self.db.execute("UPDATE life_batch SET time_ns = ?, data = ? WHERE batch = ?",
                        [self.at(row["time_ns"]), bytes(data), row["batch"]])

    def finish(self):
        for row in self.db.execute("SELECT * FROM life_batch").fetchall():
            self.batch(row)
        figures = {**self.sums, "max_pause_ns": self.longest, "gc_ns": sum(self.sums[f] for f in PAUSES.values())}
        # No phase lasts longer than the virtual time in which it is observed.
        pace = figures["gc_ns"] / max(self.db.execute("SELECT sum(gc_ns) FROM heap").fetchone()[0], 1)
        times = ("total_ns", "max_ns", "outside_ns")
        self.db.execute(f"UPDATE phase SET {', '.join(f'{name} = CAST({name} * :pace AS INTEGER)' for name in times)}",
                        {"pace": pace})
        # Nobody waits for the machine.
        waits = ", ".join(f"{part}{wait}_ns = 0" for wait in ("disk", "no_cpu", "throttled", "asleep")
                          for part in ("", "longest_"))
        self.db.execute(f"UPDATE phase SET {waits}")
        self.db.execute(f"UPDATE heap SET {', '.join(f'{name} = ?' for name in figures)}", list(figures.values()))
        self.db.execute("UPDATE meta SET value = ? WHERE key = 'wall_ns'", [round(self.now) - self.start])

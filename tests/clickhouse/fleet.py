"""fleet.py PAGE LINES FOLDER PORT...: runs the queries of PAGE on each server, in the order of the page, and compares the
answers with what it works out from the lines that LINES has, one by one; and what PAGE shows of each answer with the answer,
both ways, without the numbers, of which the page has others. With --only N: the N-th query only, and not what is shown.

A query has the answer that the function in QUESTIONS gives; there are as many of one as of the other."""
import argparse
import collections
import json
import math
import re
import subprocess
import sys
import time

SECOND, HOUR, DAY = 10**9, 3600 * 10**9, 86400 * 10**9
COLLECTIONS = ("scavenge__done", "full__done")


def ratio(a, b):
    return a / b if b else math.nan


class Fleet:
    """What the lines say, gathered by whose they are and by age: all are of the last hour, or of the day before."""

    def __init__(self, now):
        self.now = now
        self.gc = collections.Counter()  # (service, host, pid, days ago): time in collections
        self.seen = {}  # likewise: first and last event
        self.parameters = collections.defaultdict(set)  # (service, host, days ago)
        self.pauses = collections.Counter()  # of today: (service, place of the heap, number)
        self.fulls = collections.defaultdict(lambda: ["", 0])  # likewise: cause, time
        self.recordings = collections.defaultdict(lambda: dict(lost=0, cut=0, said=0, arrived=0, ends=0))

    def age(self, ns):
        """Lines at the edge of a query's time would belong to either side of it."""
        age = self.now - ns
        assert all(abs(age - edge) > 60 * SECOND for edge in (HOUR, DAY, 2 * DAY)), f"an event at the edge: {age / 1e9} s ago"
        return age

    def add(self, line):
        whose = line["service"], line["host"]
        probe, wall = line.get("probe"), line["wall_ns"]
        recording = self.recordings[*whose, line["recording_ns"]]
        if probe is None:
            recording.update(lost=max(recording["lost"], line["lost"]), said=max(recording["said"], line["events"]),
                             cut=max(recording["cut"], int("partial" in line)), ends=recording["ends"] + 1)
            return
        recording["arrived"] += 1
        age = self.age(wall)
        days = age // DAY
        assert days == 1 or age < HOUR, f"an event that is {age / 1e9} s old"
        process = (*whose, line["pid"], days)
        first, last = self.seen.get(process, (wall, wall))
        self.seen[process] = min(first, wall), max(last, wall)
        if probe == "param__set":
            self.parameters[*whose, days].add(f'{line["name"]}={line["value"]}')
        heap = (*whose, line["pid"], line.get("heap_id"), line["heap"])
        if probe in COLLECTIONS:
            self.gc[process] += line["duration"]
            if days == 0:
                self.pauses[heap, line["seq"] - (probe == "full__done")] += line["duration"]
        if probe in ("full__start", "full__done") and days == 0:
            full = self.fulls[heap, line["seq"]]
            full[0] = line.get("cause", full[0])
            full[1] += line["duration"] if probe == "full__done" else 0

    def shares(self, days):
        """Of a day, by service and host: time in collections, time seen, processes."""
        sums = collections.defaultdict(lambda: [0, 0, 0])
        for process, (first, last) in self.seen.items():
            if process[3] == days:
                at = sums[process[:2]]
                at[0] += self.gc[process]
                at[1] += last - first
                at[2] += 1
        return sums


def most_time(fleet):
    sums = fleet.shares(0)
    order = sorted(sums.items(), key=lambda item: (-ratio(*item[1][:2]), item[0][1]))
    return [(*whose, (100 * gc / seen, 1), (gc / 1e9, 2), count) for whose, (gc, seen, count) in order[:10]]


def long_pauses(fleet):
    pauses = collections.defaultdict(list)
    for (heap, _), ns in fleet.pauses.items():
        pauses[heap[0]].append(ns)
    rows = []
    for service, ns in pauses.items():
        ns.sort()
        rows.append((service, len(ns), *(ns[int(level * len(ns))] for level in (0.5, 0.99)), ns[-1]))
    rows.sort(key=lambda row: (-row[3], row[0]))
    return [(*row[:2], *((ns / 1e6, 3) for ns in row[2:])) for row in rows]


def changed(fleet):
    before, now = (fleet.shares(days) for days in (1, 0))
    rows = []
    for whose in before.keys() | now.keys():
        shares = [ratio(*at[whose][:2]) if whose in at else math.nan for at in (before, now)]
        times = ratio(shares[1], shares[0])
        if not 0.67 <= times <= 1.5:
            old, new = (fleet.parameters[*whose, ago] for ago in (1, 0))
            added = " ".join(sorted(new - old)) if old else ""
            distance = math.inf if math.isnan(times) else -abs(math.log(times))
            rows.append((distance, whose[1], (*whose, *((100 * share, 1) for share in shares), added)))
    return [row for *_, row in sorted(rows)][:20]


def causes(fleet):
    sums = collections.defaultdict(lambda: [0, set(), 0, 0])
    for (heap, _), (cause, ns) in fleet.fulls.items():
        at = sums[heap[0], cause or "start not seen"]
        at[0] += 1
        at[1].add(heap[1])
        at[2] += ns
        at[3] = max(at[3], ns)
    order = sorted(sums.items(), key=lambda item: (-item[1][2], item[0]))
    return [(*which, count, len(hosts), (ns / 1e9, 3), (most / 1e6, 3)) for which, (count, hosts, ns, most) in order]


def losers(fleet):
    sums = collections.defaultdict(lambda: [0] * 5)
    for (service, host, began), at in fleet.recordings.items():
        if fleet.age(began) < DAY:
            missing = max(at["said"] - at["arrived"], 0) if at["ends"] == 1 else 0
            figures = at["lost"], at["cut"], missing, int(at["ends"] == 0), int(at["ends"] > 1)
            sums[service, host] = [a + b for a, b in zip(sums[service, host], figures)]
    rows = [(*whose, *figures) for whose, figures in sums.items() if any(figures)]
    return sorted(rows, key=lambda row: (-row[2], -row[4], row[1]))[:20]


QUESTIONS = most_time, long_pauses, changed, causes, losers


def is_equal(cell, wanted):
    """wanted: a text, a whole number, or a number and to how many decimals it is rounded."""
    if isinstance(wanted, tuple):
        number, decimals = wanted
        return cell == "nan" if math.isnan(number) else abs(float(cell) - number) <= 0.5 * 10**-decimals + 1e-9 * abs(number)
    return cell == str(wanted)


def ask(port, query, form):
    done = subprocess.run(["clickhouse-client", "--port", port, "--format", form, "--query", query], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{query}\nstatus {done.returncode}: {done.stdout}")
    return done.stdout


def compare(name, answer, wanted):
    rows = [line.split("\t") for line in answer.splitlines()[1:]]
    for row, expected in zip(rows, wanted):
        if len(row) != len(expected) or not all(map(is_equal, row, expected)):
            sys.exit(f"{name}: the answer has {row}, and the lines say {expected}")
    if len(rows) != len(wanted) or not rows:
        sys.exit(f"{name}: {len(rows)} rows, and the lines say {len(wanted)}:\n{answer}")


def shapes(text):
    """Its lines without numbers and hosts, each once."""
    lines = (re.sub(r"^\w+ +app[0-9]+\b", "SERVICE HOST", line.strip()) for line in text.splitlines() if line.strip())
    return {re.sub(r" +", " ", re.sub(r"\bnan\b|\b[0-9.]+(e[-+]?[0-9]+)?\b", "N", line)) for line in lines}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", type=int)
    parser.add_argument("page")
    parser.add_argument("lines")
    parser.add_argument("answers")
    parser.add_argument("ports", nargs="+")
    given = parser.parse_args()

    examples = re.findall(r"```sql\n(.*?)```\n\n```text\n(.*?)```\n", open(given.page, encoding="utf-8").read(), re.S)
    if len(examples) != len(QUESTIONS) or open(given.page, encoding="utf-8").read().count("```sql") != len(QUESTIONS):
        sys.exit(f"the page has {len(examples)} queries with answers, and there are {len(QUESTIONS)} here")
    fleet = Fleet(time.time_ns())
    with open(given.lines, encoding="ascii") as lines:
        count = 0
        for count, line in enumerate(lines, 1):
            fleet.add(json.loads(line))
    rows, problems = 0, []
    for number, (question, (query, shown)) in enumerate(zip(QUESTIONS, examples), 1):
        if given.only and given.only != number:
            continue
        wanted = question(fleet)
        for port in given.ports:
            compare(question.__name__, ask(port, query, "TabSeparatedWithNames"), wanted)
        rows += len(wanted)
        printed = ask(given.ports[0], query, "PrettySpaceNoEscapes")
        with open(f"{given.answers}/{question.__name__}", "w", encoding="utf-8") as file:
            file.write(printed)
        if not given.only:
            problems += [f"{question.__name__}: the page shows {line!r}, the answer does not" for line in shapes(shown) - shapes(printed)]
            problems += [f"{question.__name__}: the answer has {line!r}, the page does not" for line in shapes(printed) - shapes(shown)]
    if problems:
        sys.exit("\n".join(problems))
    print(f"{rows} rows of answers agree with {count} lines, on {len(given.ports)} servers")


main()

"""metrics.py FILE: parses what `edenscope export` answers, in either format, and fails on what a scraper would refuse.

Read as a module: samples(text) gives {(name, frozenset of labels): value as text}."""
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)')
SUFFIXES = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"], "gauge": [""], "info": ["_info"]}


def labels_of(text):
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, text
        assert match[1] not in labels, text
        labels[match[1]], at = match[2], match.end()
    return frozenset(labels.items())


def samples(text):
    is_open = text.endswith("# EOF\n")
    kinds, found, family = {}, {}, None
    for line in text.removesuffix("# EOF\n").split("\n")[:-1]:
        assert line.isprintable(), line
        if line.startswith("# TYPE "):
            family, kind = line.split(" ")[2:]
            assert family not in kinds, line
            kinds[family] = kind
            continue
        if line.startswith("# HELP "):
            continue
        match = re.fullmatch(rf"({NAME})(?:{{(.*)}})? ([0-9.]+)", line)
        assert match, line
        name, labels, value = match[1], labels_of(match[2] or ""), match[3]
        kind = kinds[family]
        allowed = SUFFIXES[kind] if is_open or kind == "histogram" else [""]
        assert name in [family + suffix for suffix in allowed], (line, family, kind)
        assert (name, labels) not in found, line
        found[name, labels] = value
    for (name, labels), value in found.items():
        if name.endswith("_bucket"):
            rest = {label for label in labels if label[0] != "le"}
            row = sorted((float(dict(other)["le"]), float(found[name, other])) for at, other in found
                         if at == name and {label for label in other if label[0] != "le"} == rest)
            assert 2 <= len(row) <= 20 and row[-1][0] == float("inf"), row
            assert [count for _, count in row] == sorted(count for _, count in row), row
            assert row[-1][1] == float(found[name.replace("_bucket", "_count"), frozenset(rest)]), row
    return found


if __name__ == "__main__":
    print(len(samples(open(sys.argv[1], encoding="utf-8").read())))

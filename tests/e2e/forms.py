#!/usr/bin/env python3
"""forms.py FILE.FORMAT...: fails, and says where, unless what edenscope printed is whole and steers no terminal.

FORMAT: text, json (an object a line), trace (one object), csv, folded, svg, pprof. FILE.command says what printed it. The bytes are UTF-8 without control characters but the
form's own, without anything that hides or reorders text; and the form can be parsed."""
import csv
import gzip
import io
import json
import re
import sys
import unicodedata
import xml.dom.minidom
import xml.parsers.expat

FORBIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
OWN = {"text": "\n", "json": "\n", "trace": "\n", "csv": "\r\n", "folded": "\n", "svg": "\n\t", "pprof": ""}


def check_characters(text, own):
    for at, character in enumerate(text):
        if unicodedata.category(character) in FORBIDDEN and character not in own:
            around = text[max(0, at - 40) : at + 40]
            raise ValueError(f"U+{ord(character):04X} in {around!r}")


def check_csv(text):
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    counts = {len(row) for row in rows}
    if len(counts) != 1:
        raise ValueError(f"rows of {sorted(counts)} fields")
    for field in (field for row in rows for field in row):
        if field.lstrip(" ")[:1] in tuple("=+-@"):
            raise ValueError(f"a formula: {field!r}")


def check_folded(text):
    for line in text.splitlines():
        if not re.fullmatch(r"(?:[^;]+;)+(?:short-lived|long-lived|unknown) [0-9]+", line):
            raise ValueError(f"not a stack: {line!r}")


def number(data, at):
    """A variable-length number of protocol buffers, and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def strings(data):
    """The string table (field 6) of a profile."""
    at = 0
    while at < len(data):
        tag, at = number(data, at)
        value, at = number(data, at)
        if tag & 7 == 2:
            if tag >> 3 == 6:
                yield data[at : at + value].decode()
            at += value


def check(form, data):
    if form == "pprof":
        for text in strings(gzip.decompress(data)):
            check_characters(text, OWN[form])
        return
    text = data.decode()
    check_characters(text, OWN[form])
    if form == "json":
        for line in text.splitlines():
            json.loads(line)
    elif form == "trace":
        json.loads(text)
    elif form == "csv":
        check_csv(text)
    elif form == "folded":
        check_folded(text)
    elif form == "svg":
        xml.dom.minidom.parseString(data)


def main():
    failed = False
    for name in sys.argv[1:]:
        stem, form = name.rsplit(".", 1)
        with open(name, "rb") as file:
            data = file.read()
        try:
            check(form, data)
        except (ValueError, csv.Error, xml.parsers.expat.ExpatError) as error:
            with open(stem + ".command", encoding="utf-8", errors="backslashreplace") as file:
                print(f"{file.readline()!r} ({form}): {error}")
            failed = True
    sys.exit(failed)


main()

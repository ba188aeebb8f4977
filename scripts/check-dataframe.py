#!/usr/bin/env python3
"""check-dataframe.py FILE.csv: what `dataframe --json FILE.csv` must print, by a program that shares nothing with it.

A column is of type number if every cell that is not empty is [+-]digits[.digits][e[+-]digits], and there is one: count
is the number of those cells, sum the additions of their values from the first row to the last. Otherwise it is of type
text: count is the number of all its cells, distinct the number of different ones. Empty lines are no records.
"""
import csv
import json
import math
import re
import sys

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def describe(name, cells):
    # Bytes that are no UTF-8 came in as lone surrogates; in a name they become U+FFFD.
    column = {"name": name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")}
    filled = [cell for cell in cells if cell != ""]
    if filled and all(NUMBER.fullmatch(cell) for cell in filled):
        total = 0.0
        for cell in filled:
            total += float(cell)
        column.update(type="number", count=len(filled), sum=total if math.isfinite(total) else None)
    else:
        column.update(type="text", count=len(cells), distinct=len(set(cells)))
    return column


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check-dataframe.py FILE.csv")
    csv.field_size_limit(sys.maxsize)
    with open(sys.argv[1], encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        records = [record for record in csv.reader(file, strict=True) if record]
    if not records:
        sys.exit("check-dataframe.py: the file is empty")
    header, rows = records[0], records[1:]
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            sys.exit(f"check-dataframe.py: record {number} has {len(row)} fields, the header has {len(header)}")
    columns = [describe(name, [row[i] for row in rows]) for i, name in enumerate(header)]
    print(json.dumps({"rows": len(rows), "columns": columns}, ensure_ascii=False))


main()

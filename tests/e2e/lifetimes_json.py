"""What `edenscope lifetimes --json` printed, for the tests that ask whether it adds up."""
import json


def read(name):
    return json.load(open(name, encoding="utf-8"))


def rows(seen, kind="classes"):
    return {(row["heap"], row["name"], row.get("site_id")): row for row in seen[kind]}


def total(seen, key, kind="classes"):
    return sum(row[key] for row in seen[kind])


def whole(seen, complete=True):
    """Every object that was born has died or is alive, by class and by site."""
    assert seen["lost"] == 0, seen["lost"]
    for kind in "classes", "sites":
        for row in seen[kind]:
            assert row["births"] == row["deaths"] + row["censored"], row
            assert row["name"], row
            assert not complete or row["unreported"] == 0, row
    for key in "births", "deaths", "censored", "bytes":
        assert total(seen, key) == total(seen, key, "sites"), key
    for heap in seen["heaps"]:
        assert not complete or not heap["profiled"] or heap["ended"], heap

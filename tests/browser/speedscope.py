"""speedscope.py FOLDER: opens FOLDER/trace.json in the speedscope of FOLDER/package, and compares what it shows."""
import collections
import json
import re
import sys
import time

import browser

UNITS = {"ns": 1e-3, "µs": 1, "ms": 1e3, "s": 1e6, "min": 60e6}


def until(is_so, what):
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.1)


def totals_of(trace):
    """Microseconds of each phase, of the one thread of the trace."""
    totals, open_, threads = collections.Counter(), [], set()
    for event in trace["traceEvents"]:
        if event["ph"] == "B":
            open_.append((event["name"], event["ts"]))
            threads.add((event["pid"], event["tid"]))
        elif event["ph"] == "E":
            name, began = open_.pop()
            totals[name] += event["ts"] - began
    assert not open_ and len(threads) == 1, threads
    return totals, threads.pop()


def main(folder):
    totals, (pid, tid) = totals_of(json.load(open(f"{folder}/trace.json", encoding="utf-8")))
    with browser.Browser(folder) as chromium, chromium.tab() as tab:
        tab.open(f"file://{folder}/package/dist/release/index.html")
        until(lambda: tab.evaluate("!!document.querySelector('input[type=file]')"), "speedscope does not start")
        chosen = tab.call("Runtime.evaluate", expression="document.querySelector('input[type=file]')")["result"]["objectId"]
        tab.call("DOM.setFileInputFiles", files=[f"{folder}/trace.json"], objectId=chosen)
        text = lambda: tab.evaluate("document.body.innerText")
        until(lambda: f"(pid {pid}, tid {tid})" in text(), "the thread is not shown")
        tab.key("3") # the table of all functions, which are phases here
        until(lambda: "Symbol Name" in text(), "there is no table")
        rows = re.findall(r"^([0-9.]+)(ns|µs|ms|s|min) \([^)]*\)\s+[0-9.]+(?:ns|µs|ms|s|min) \([^)]*\)\s+(\S+)$", text(), re.MULTILINE)
        shown = {name: float(number) * UNITS[unit] for number, unit, name in rows}
        assert shown.keys() == totals.keys() and "scavenge.copy" in shown, (shown, totals)
        assert all(abs(shown[name] - total) <= 0.011 * total for name, total in totals.items()), (shown, totals)
        wrong = [message for message in tab.messages if "exceptionDetails" in message or message.get("type") == "error" or
                 message.get("entry", {}).get("level") == "error"]
        assert not wrong, wrong
        print(f"speedscope shows {len(shown)} phases, and the time of each")


main(sys.argv[1])

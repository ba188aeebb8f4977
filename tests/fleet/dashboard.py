"""dashboard.py FILE ADDRESS: whether the Grafana dashboard is whole, and each of its queries, put to the server at ADDRESS
with the variables set to all, gives series with each label that the panel names. Fails with what does not."""
import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request


def ask(expression):
    url = f"http://{sys.argv[2]}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return [series["metric"] for series in json.load(answer)["data"]["result"]]
    except urllib.error.HTTPError as error:
        sys.exit(f"{expression}: {error.read().decode()}")


def labels_of(expression, legend):
    """Those that the result has; le is gone with a quantile."""
    grouped = re.findall(r"\bby \(([^)]*)\)", expression)
    labels = {label.strip() for group in grouped for label in group.split(",")} - {"le"}
    return labels | set(re.findall(r"{{(\w+)}}", legend))


def check_query(title, expression, labels):
    for name in re.findall(r"\$(\w+)", expression):
        assert name == "__rate_interval" or name in variables, f"{title}: no variable {name}"
        used.add(name)
    expression = re.sub(r"\$\w+", ".*", expression.replace("$__rate_interval", "5m"))
    series = ask(expression)
    assert series, f"{title}: {expression} gives nothing"
    for label in labels:
        assert all(one.get(label) for one in series), f"{title}: {expression} has no label {label}: {series[0]}"


dashboard = json.load(open(sys.argv[1], encoding="utf-8"))
assert dashboard["uid"] and dashboard["title"] and dashboard["schemaVersion"] >= 36, "no head"
variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
assert variables["datasource"]["type"] == "datasource" and variables["datasource"]["query"] == "prometheus"
used, queries, places = {"datasource"}, 0, set()
panels = dashboard["panels"]
assert len({panel["id"] for panel in panels}) == len(panels), "two panels have one id"
for name, variable in variables.items():
    if variable["type"] == "query":
        inner, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"]).groups()
        check_query(name, inner, {label})
for panel in panels:
    title, grid = panel["title"], panel["gridPos"]
    cells = {(x, y) for x in range(grid["x"], grid["x"] + grid["w"]) for y in range(grid["y"], grid["y"] + grid["h"])}
    assert not cells & places and grid["x"] + grid["w"] <= 24, f"{title}: lies on another panel"
    places |= cells
    if panel["type"] == "row":
        continue
    assert panel["fieldConfig"]["defaults"]["unit"] and panel["targets"], f"{title}: no unit, or no query"
    assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"]), f"{title}: two of one name"
    for target in panel["targets"]:
        assert target["datasource"] == panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}, title
        labels = labels_of(target["expr"], target["legendFormat"])
        assert "command" not in labels or "user" in labels, f"{title}: adds up users, who choose names"
        check_query(title, target["expr"], labels)
        queries += 1
assert used - {"__rate_interval"} == set(variables), f"unused: {set(variables) - used}"
print(f"{queries} queries give series with the labels that their panels name")

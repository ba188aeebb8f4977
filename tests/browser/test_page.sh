#!/usr/bin/env bash
# The page of `report --html` in headless Chromium, which `make test-page` installs: it draws every chart, says nothing on
# its console, and requests nothing but itself. Leaves pictures in $PICTURES, if that is set.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../e2e/common.sh"

need_edenscope
mobidyc=$(readlink -f "$build/workloads/mobidyc")
queue=$(readlink -f "$build/workloads/queue")
enter_folder
"$scope" record --lifetimes -o one.data -- "$mobidyc" >/dev/null 2>&1
"$scope" report -i one.data --html one.html
"$scope" record -o two.data -- "$exercise" >/dev/null 2>&1
"$scope" report -i two.data --html two.html
EDEN_OPTIONS=policy=fixed,eden_size=1M "$queue" 1000000000 300000 >/dev/null &
late=$!
until_true "a heap" bash -c "'$scope' list --json | jq -e '.processes[] | select(.pid == $late) | .heaps | length > 0' >/dev/null"
"$scope" record -o late.data -p "$late" 1 2>/dev/null
kill "$late"
"$scope" report -i late.data --html late.html

# browse NAME WIDTH HEIGHT SCHEME (0 dark, 1 light): $folder/dom, $folder/console, $folder/requests.
browse() {
    timeout 120 chromium --headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --user-data-dir="$folder/profile" --hide-scrollbars \
        --window-size="$2,$3" --blink-settings="preferredColorScheme=$4" --virtual-time-budget=10000 \
        --enable-logging=stderr --log-net-log="$folder/requests" "${@:5}" "file://$folder/$1" 2>"$folder/console"
}

for page in one two late; do
    browse $page.html 1280 900 1 --dump-dom >dom
    ! grep CONSOLE console || die "$page: the console has messages"
    python3 - <<'PYTHON' || die "$page: the page is not what it should be"
import html.parser, json, re
dom = open("dom", encoding="utf-8").read()
assert 'data-drawn="yes"' in dom, "the page has not drawn all"

class Charts(html.parser.HTMLParser):
    canvases, depth, chart = {}, 0, None
    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "chart" in attrs.get("class", "").split():
            self.chart = attrs["id"]
            self.canvases[self.chart] = 0
        elif tag == "canvas" and self.chart:
            self.canvases[self.chart] += int(attrs["width"]) > 100 and int(attrs["height"]) > 100

charts = Charts()
charts.feed(dom)
assert set(charts.canvases) == {"c-pauses", "c-share", "c-spaces", "c-tenuring"}, charts.canvases
assert all(count >= 2 for count in charts.canvases.values()), charts.canvases
for table in ("phases", "causes", "pauses", "histogram", "mmu"):
    assert re.search(rf'id="{table}"><table', dom), table
log = json.load(open("requests"))
# The browser's own requests (updates, the time) have other initiators.
asked = {str(event["params"]["url"]) for event in log["events"] if isinstance(event.get("params"), dict)
         and "url" in event["params"] and event["params"].get("initiator", "not an origin") not in ("not an origin", "chrome://")}
assert not asked, asked
PYTHON
    if [[ $page == late ]]; then
        grep -q 'All together, added to the EDEN_OPTIONS that the program has, if it has any: <code>' dom ||
            die "the page leaves out what the options are added to"
    fi
    # One word has one meaning: the figure counts the scavenges of full collections, the tables do not.
    grep -q '<dt>scavenges, with those of full collections</dt>' dom && grep -q '<td[^>]*>scavenges alone</td>' dom &&
        ! grep -qE '<(dt|td|th)[^>]*>scavenges</' dom || die "$page: which scavenges?"
    rm dom requests
done
echo "drawn, without a message and a request"

if [[ -n ${PICTURES:-} ]]; then
    mkdir -p "$PICTURES"
    for page in one two; do
        for form in "desktop 1280 3300 1" "dark 1280 3300 0" "phone 390 5200 1"; do
            read -r name width height scheme <<<"$form"
            browse $page.html "$width" "$height" "$scheme" --screenshot="$PICTURES/$page-$name.png"
        done
    done
    echo "pictures are in $PICTURES"
fi

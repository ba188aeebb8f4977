#!/usr/bin/env bash
# The page of `report --html` in headless Chromium, which `make test-page` installs: on a desktop and on a phone, light and
# dark, it draws every chart, fits the window, is used with mouse, keys and fingers, says nothing on its console, and
# requests nothing but itself. Leaves pictures in $PICTURES, if that is set.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../e2e/common.sh"

need_edenscope
look=$PWD/tests/browser/look.py
mobidyc=$(readlink -f "$build/workloads/mobidyc")
queue=$(readlink -f "$build/workloads/queue")
hostile=$(readlink -f "$build/tests/hostile")
[[ -z ${PICTURES:-} ]] || mkdir -p "$PICTURES"
enter_folder

"$scope" record --lifetimes --sampling bytes=16K -o lives.data -- "$mobidyc" >/dev/null 2>&1
"$scope" report -i lives.data --html lives.html
"$scope" record -o some.data -- "$exercise" >/dev/null 2>&1
"$scope" report -i some.data --html some.html
EDEN_OPTIONS=policy=fixed,eden_size=1M "$queue" 1000000000 300000 >/dev/null &
late=$!
until_true "a heap" bash -c "'$scope' list --json | jq -e '.processes[] | select(.pid == $late) | .heaps | length > 0' >/dev/null"
"$scope" record -o late.data -p "$late" 1 2>/dev/null
kill "$late"
"$scope" report -i late.data --html late.html
# Names that steer terminals and reorder text, as a program can have them; and those that want to be markup.
mkdir programs
"$hostile" names programs >ready &
maker=$!
until_true "the copies of the program are made" grep -q ready ready
kill "$maker"
programs=(programs/*)
"$scope" record --lifetimes --sampling all -o hostile.data -- "${programs[0]}" names programs 100 >/dev/null 2>&1
sqlite3 hostile.data "UPDATE meta SET value = '</script><script>window.hit=1</script>' WHERE key = 'command';
    UPDATE class SET name = '<img src=x onerror=window.hit=1>' WHERE name LIKE 'esc-%';
    UPDATE class SET name = '</bdi></section><!--' WHERE name LIKE 'lines-%';
    UPDATE class SET name = '__proto__' WHERE name LIKE 'c1-%';
    UPDATE class SET name = printf('%.*c', 63, 'W') WHERE name LIKE 'zero-%'"
"$scope" report -i hostile.data --html hostile.html

python3 "$look" "$folder" lives.html some.html late.html hostile.html || die "a page is not what it should be"
echo "drawn and used, without a message and a request"

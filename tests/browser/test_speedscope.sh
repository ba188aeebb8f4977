#!/usr/bin/env bash
# speedscope (npm) opens the trace of `script --chrome` in its own parser, in headless Chromium: the thread is there, and the
# time that it shows for each phase is that of the trace's slices. `make test-page` installs what this needs.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../e2e/common.sh"

need_edenscope
version=1.25.0
integrity=sha512-cpf9HWTZf1ijLXBJrk87Ve/54tnYx6rlf0gUThvn3ook6h63hLXVOQiMf44PT+XoV503cPfvfiT5gP5vojp6Ag==
opens=$PWD/tests/browser/speedscope.py
mobidyc=$(readlink -f "$build/workloads/mobidyc")
enter_folder

"$scope" record -o run.data -- "$mobidyc" >/dev/null 2>&1
"$scope" script -i run.data --chrome >trace.json
npm pack --json --silent "speedscope@$version" >pack.json || die "npm cannot fetch speedscope: $(cat pack.json)"
[[ $(jq -r '.[0].integrity' pack.json) == "$integrity" ]] || die "this is another speedscope"
[[ sha512-$(openssl dgst -sha512 -binary "speedscope-$version.tgz" | base64 -w0) == "$integrity" ]] || die "the archive is another"
tar -xzf "speedscope-$version.tgz"
python3 "$opens" "$folder" || die "speedscope does not show what is in the trace"

#!/usr/bin/env bash
# A collection runs code of its own floor and of lower ones: a scavenge that nobody observes stays in young/ and heap/.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

make --no-print-directory -s B="$build" "$build/lib/libeden-internals.a"
# reaches FUNCTION FILE ROOM...: the files that FUNCTION reaches are in these rooms, and FILE is one of them.
reaches() {
    local function=$1 file=$2 rooms
    shift 2
    rooms=$(IFS='|' && echo "$*")
    B=$build scripts/callgraph "$function" >"$folder/files"
    grep -qx "$file" "$folder/files" || die "$function does not reach $file: $(cat "$folder/files")"
    ! grep -vE "^($rooms)/" "$folder/files" || die "$function reaches files outside of $*"
}
reaches scavenge heap/old_space.c heap young
reaches full_collect young/scavenge.c heap young old
reaches eden_allocate_slow old/full.c heap young old pretenure observe api

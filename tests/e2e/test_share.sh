#!/usr/bin/env bash
# Who may read what root records: the user who ran sudo, or the one that is named; nobody else; and none of them may write.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
if [[ $EUID != 0 ]]; then
    echo "not tried: only root records for others"
    exit 0
fi
unset SUDO_UID
micro=$(readlink -f "$build/workloads/micro")
enter_folder
chmod 755 .
cp "$scope" tool # the users may not go where it stands

# as USER COMMAND...: its status.
as() {
    local user=$1 status=0
    shift
    setpriv --reuid "$user" --regid "$user" --clear-groups "$@" >seen 2>&1 || status=$?
    return $status
}

named=$(id -u daemon) third=$(id -u games)
SUDO_UID=65534 "$scope" record -o sudo.data -- "$micro" survivors >/dev/null 2>&1
"$scope" record --user "$named" -o named.data -- "$micro" survivors >/dev/null 2>&1
"$scope" record -o own.data -- "$micro" survivors >/dev/null 2>&1
SUDO_UID=65534 "$scope" report -i sudo.data --html sudo.html
if ! getfacl -n sudo.data | grep -q '^user:65534:r--'; then
    echo "not tried: this file system has no access control lists"
    exit 0
fi
for file in sudo.data:65534 "named.data:$named"; do
    user=${file#*:} file=${file%:*}
    [[ $(stat -c %u "$file") == 0 ]] || die "$file is not root's any more"
    as "$user" ./tool report -i "$file" || die "user $user cannot read $file: $(cat seen)"
    grep -q '^# events: ' seen || die "$(cat seen)"
    as "$user" sh -c "echo >>$file" 2>/dev/null && die "user $user can write to $file"
    as 65532 cat "$file" && die "another user can read $file"
    as 0 true
done
as "$named" cat sudo.data && die "the user of another recording can read this one"
as 65534 cat own.data && die "a recording that nobody else was to read can be read"
as 65534 cat sudo.html || die "the page cannot be read by who asked for it: $(cat seen)"
as 65532 cat sudo.html && die "another user can read the page"
# Once more, over the shared ones: the group does not come in by the mask of the list.
SUDO_UID=65534 "$scope" report -i sudo.data --html sudo.html
"$scope" report -i sudo.data --html sudo.html
as 65534 cat sudo.html && die "a page that was not for this user can be read"
setpriv --reuid 65532 --regid 0 --clear-groups cat sudo.html >seen 2>&1 && die "the group can read the page"
# The page of the user who is named.
"$scope" report -i own.data --user $third --html named.html
as $third cat named.html || die "the page cannot be read by who is named: $(cat seen)"
as 65534 cat named.html && die "another user can read the page"
as $third cat own.data && die "with the page, the recording can be read"
expect_status 1 "$scope" report -i own.data --user $third
grep -q -- '--user needs --html' err || die "$(cat err)"
expect_status 1 "$scope" report -i own.data --html new.html --user nonesuch
[[ ! -e new.html ]] && grep -q 'there is no such user' err || die "$(cat err)"
# What the folder's default list gives others does not come back with the right of the one.
mkdir project
setfacl -d -m u:65532:rw,g:65531:rwX project
SUDO_UID=65534 "$scope" record -o project/sudo.data -- "$micro" survivors >/dev/null 2>&1
SUDO_UID=65534 "$scope" report -i project/sudo.data --html project/sudo.html || die "the recording is not read"
for file in project/sudo.data project/sudo.html; do
    as 65534 cat $file || die "$file: its reader cannot read it"
    as 65532 cat $file && die "$file: the default list lets another user read it"
    setpriv --reuid 65530 --regid 65531 --clear-groups cat $file >seen 2>&1 && die "$file: the default list lets a group read it"
    [[ $(getfacl -cn $file | sort | tr '\n' ' ') == " group::--- mask::r-- other::--- user:65534:r-- user::rw- " ]] ||
        die "$file: $(getfacl -cn $file)"
done
# While it is recorded, after a kill, and with a hot journal: the reader needs the journal, too.
mkfifo go
SUDO_UID=65534 "$scope" record -o live.data -- "$exercise" --wait <go >ready 2>/dev/null &
recorder=$!
exec 7>go
until_true "the program is ready" grep -q ready ready
until_true "its heaps are recorded" "$scope" report -i live.data >out 2>&1
as 65534 ./tool report -i live.data || die "a recording under way cannot be read: $(cat seen)"
as 65534 sh -c 'echo >>live.data-journal' 2>/dev/null && die "user 65534 can write to the journal"
as 65532 cat live.data-journal && die "another user can read the journal"
kill -9 "$recorder"
wait "$recorder" 2>/dev/null || true
exec 7>&-
as 65534 ./tool report -i live.data || die "a recording whose recorder was killed cannot be read: $(cat seen)"
python3 - <<'PYTHON'
import os, sqlite3
if os.fork() == 0:
    db = sqlite3.connect("live.data", isolation_level=None)
    db.executescript("PRAGMA cache_size = 1; BEGIN; UPDATE meta SET value = 'half' WHERE key = 'command';"
                     "CREATE TABLE filler(x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)"
                     "INSERT INTO filler SELECT zeroblob(4000) FROM n")
    os.kill(os.getpid(), 9)
os.wait()
PYTHON
[[ -s live.data-journal ]] || die "there is no hot journal"
as 65534 ./tool report -i live.data || die "half a transaction is not undone for who may read it: $(cat seen)"
grep -q '^# command: half' seen && die "half a transaction is read as whole"
cp -a live.data closed.data
cp live.data-journal closed.data-journal
chmod 600 closed.data-journal
as 65534 ./tool report -i closed.data && die "half a transaction is read without its journal"
grep -q 'closed.data-journal: Permission denied; .* use sudo' seen || die "$(cat seen)"
grep -q remove seen && die "a reader is to remove the journal: $(cat seen)"
# The next recorder undoes it in place, and keeps who may read.
access=$(getfacl -cn live.data)
expect_status 1 "$scope" record -o live.data -- true
[[ ! -e live.data-journal ]] || die "the journal is still there"
[[ $(getfacl -cn live.data) == "$access" ]] || die "who may read is lost: $(getfacl -cn live.data)"
as 65534 ./tool report -i live.data || die "what was undone cannot be read: $(cat seen)"
expect_status 1 "$scope" record --user nonesuch -- "$micro" survivors
grep -q -- '--user nonesuch: there is no such user' err || die "$(cat err)"
[[ -z $(getent passwd 99999) ]] || die "99999 is a user here"
expect_status 1 "$scope" record --user 99999 -- "$micro" survivors
grep -q -- '--user 99999: there is no such user' err || die "$(cat err)"
# The right to read the file is not one to get there.
mkdir -p closed/open
expect_status 0 "$scope" record --user daemon -o closed/open/file.data -- "$micro" survivors
grep -q 'may not search' err && die "an open folder is said to be closed: $(cat err)"
chmod 700 closed
cd closed/open
expect_status 0 "$scope" record --user daemon -o file.data -- "$micro" survivors
cd ../..
[[ $(grep -c "^edenscope: file.data: user $named may not search a folder" err) == 1 ]] || die "the folder is not named: $(cat err)"
as "$named" ./tool report -i closed/open/file.data && die "a closed folder was searched"
grep -q 'permission denied, to it or to a folder .* --user' seen || die "$(cat seen)"
setfacl -m "u:$named:x" closed
expect_status 0 "$scope" record --user daemon -o closed/open/file.data -- "$micro" survivors
grep -q 'may not search' err && die "a folder that the user may search is said to be closed: $(cat err)"
as "$named" ./tool report -i closed/open/file.data || die "the user cannot read it: $(cat seen)"
# Whoever is named may stop nobody's processes but their own, and so not the tool that looks whether they get there.
setpriv --reuid "$named" --regid "$named" --clear-groups bash -c 'while :; do kill -STOP -- -1; done' 2>/dev/null &
deep=$(printf 'a/%.0s' {1..900})
mkdir -p "$deep"
for ((i = 0; i < 10; i++)); do
    timeout -k 1 20 "$scope" report -i own.data --user "$named" --html "$deep/page$i.html" 2>err || die "status $?: $(cat err)"
done
echo "who may read is said, and holds"

#!/usr/bin/env bash
# Recordings, and files beside them, that another user (uid 65534) made: they are refused without --force, read from a
# private copy with it, and nothing that root reads or records removes, replaces or changes a file. No view of one shows
# a sum that wrapped around.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
need_edenscope
[[ $EUID == 0 ]] || { echo "needs root"; exit 77; }
enter_folder
chmod 755 .
unset SUDO_UID

state() { stat -c '%i %Y %s %n' "$@" && cksum "$@"; }

# reader NAME OPTIONS...: each command that reads a recording, on FILE.
readers=("report" "script" "lifetimes" "tune --json" "simulate --heap 1")

# ---- whose recording ---------------------------------------------------------------------------------------------

"$scope" record --lifetimes=details -o good.data -- "$exercise" >/dev/null 2>&1
cp good.data theirs.data
chown 65534 theirs.data
before=$(state theirs.data)
for reader in "${readers[@]}"; do
    # shellcheck disable=SC2086
    expect_status 1 timeout 60 "$scope" $reader -i theirs.data
    grep -q 'belongs to another user (65534)' err || die "$reader: the owner is not named: $(cat err)"
done
for reader in report script "lifetimes" "tune --json"; do
    # shellcheck disable=SC2086
    expect_status 0 timeout 60 "$scope" $reader --force -i theirs.data
done
expect_status 1 timeout 60 "$scope" diff good.data theirs.data
grep -q 'belongs to another user (65534)' err || die "diff: the owner is not named: $(cat err)"
expect_status 0 timeout 60 "$scope" diff --force theirs.data good.data
SUDO_UID=65534 expect_status 0 "$scope" report -i theirs.data
expect_status 0 setpriv --reuid 65534 --clear-groups "$scope" report -i theirs.data
[[ $(state theirs.data) == "$before" ]] || die "reading has changed the file"
echo "recordings of other users take --force"

# Root's own, which others may write to, or may have linked there.
cp good.data open.data
mkdir -m 1777 linked
ln open.data linked/open.data
chmod 600 open.data
refused() {
    for reader in "${readers[@]}"; do
        # shellcheck disable=SC2086
        expect_status 1 timeout 60 "$scope" $reader -i "$1"
        grep -q "$2; --force reads it from a private copy" err || die "$reader: $1 is trusted: $(cat err)"
    done
    expect_status 0 "$scope" report --force -i "$1"
}
refused linked/open.data 'has other hard links, in a folder that others may write to'
expect_status 0 "$scope" report -i open.data
rm linked/open.data
for mode in 666 620 602; do
    chmod $mode open.data
    refused open.data "others may write to it (mode $mode)"
done
chmod 644 open.data
expect_status 0 "$scope" report -i open.data
echo "so do those that others may write to or have linked there"

cp good.data log.data
sqlite3 log.data 'PRAGMA journal_mode=wal' >out
expect_status 1 "$scope" report -i log.data
grep -q 'log.data: another program switched it to write-ahead logging (WAL)' err || die "the log is not named: $(cat err)"
sqlite3 log.data 'PRAGMA journal_mode=delete' >out
expect_status 0 "$scope" report -i log.data

# cut_short NAME KEY: NAME.data gets a hot journal, of a transaction that changes meta's row KEY.
cut_short() {
    python3 - "$1.data" "$2" <<'PYTHON'
import os, sqlite3, sys
if os.fork() == 0:
    db = sqlite3.connect(sys.argv[1], isolation_level=None)
    db.executescript(f"PRAGMA cache_size = 1; BEGIN; UPDATE meta SET value = 'half' WHERE key = '{sys.argv[2]}';"
                     "CREATE TABLE filler(x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)"
                     "INSERT INTO filler SELECT zeroblob(4000) FROM n")
    os.kill(os.getpid(), 9)
os.wait()
PYTHON
    [[ -s $1.data-journal ]] || die "there is no hot journal"
}
# A hot journal: half a transaction that the file shows, and its journal undoes.
cut_short theirs tool
chown 65534 theirs.data-journal
before=$(state theirs.data theirs.data-journal)
expect_status 0 "$scope" report --force -i theirs.data
[[ $(state theirs.data theirs.data-journal) == "$before" ]] || die "a half transaction was undone in place"

# The same with a file name at its end, which SQLite deletes when it is done.
echo precious >victim
cp theirs.data-journal plain
python3 - "$folder/victim" <<'PYTHON'
import struct, sys
name = sys.argv[1].encode()
with open("theirs.data-journal", "ab") as journal:
    journal.write(struct.pack(">I", 0x40000000 // 4096 + 1) + name +
                  struct.pack(">II", len(name), sum(name)) + bytes.fromhex("d9d505f920a163d7"))
PYTHON
expect_status 1 "$scope" report --force -i theirs.data
grep -q 'theirs.data-journal' err || die "the journal is not named: $(cat err)"
[[ $(cat victim) == precious ]] || die "the file that the journal names is gone"
echo "half transactions are undone in a copy"

# Both journals in turn, as fast as their owner can: whatever lies there when it is checked, when it is opened, and when
# it is read, nothing that one of them names goes.
mkdir turns
mv theirs.data turns
mv plain turns
mv theirs.data-journal turns/trap
chown -R 65534 turns
cat >swap.py <<'PYTHON'
import os
os.setuid(65534)
os.chdir("turns")
while True:
    for journal in "plain", "trap":
        os.link(journal, "next")
        os.rename("next", "theirs.data-journal")
PYTHON
python3 swap.py &
swapper=$!
until_true "the journal is there" test -e turns/theirs.data-journal
for ((i = 0; i < 40; i++)); do
    SUDO_UID=65534 "$scope" report -i turns/theirs.data >out 2>err || [[ $? == 1 ]] || die "a journal that changes: $(cat err)"
    [[ $(cat victim) == precious ]] || die "the file that the journal names is gone after $((i + 1)) readings"
done
kill -0 "$swapper" || die "the journal has not changed"
kill "$swapper"
echo "a journal that changes is harmless"

# Locks of readers: they say nothing of a recording. One is finished, the other was cut short.
cp good.data shared.data
cp good.data short.data
chmod 644 shared.data short.data
cut_short short command
cat >locks.py <<'PYTHON'
import fcntl, os, signal, struct
os.setuid(65534)
for path in "shared.data", "short.data":
    file = os.open(path, os.O_RDONLY)
    fcntl.flock(file, fcntl.LOCK_EX)
    fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0))
print("locked", flush=True)
signal.pause()
PYTHON
python3 locks.py >locked &
locker=$!
until_true "the recordings are locked" test -s locked
expect_status 0 "$scope" report -i shared.data
! grep -q 'still being recorded' out || die "a reader's lock makes a finished recording a live one"
expect_status 0 "$scope" report -i short.data
! grep -q 'command: half' out || die "a reader's lock makes half a transaction a whole one"
expect_status 0 "$scope" record -o shared.data -- "$exercise"
kill -0 "$locker" || die "the locks are gone"
kill "$locker"
rm short.data short.data-journal
echo "readers' locks have no effect"

# ---- what keeps a reader busy --------------------------------------------------------------------------------------

cp good.data busy.data
python3 - <<'PYTHON'
import sqlite3
db = sqlite3.connect("busy.data")
# It is made with a cheap expression: SQLite computes the column at each insert too.
db.executescript("""
    ALTER TABLE event RENAME TO former;
    CREATE TABLE event(event INTEGER PRIMARY KEY, time_ns INTEGER, process INTEGER, tid INTEGER, probe INTEGER,
        heap_id INTEGER, args INTEGER, heap INTEGER, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, text0 TEXT,
        text1 TEXT AS (lower(event)));
    INSERT INTO event SELECT event, time_ns, process, tid, probe, heap_id, args, heap, a1, a2, a3, a4, a5, a6, a7, a8,
        a9, a10, a11, text0 FROM former;
    PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = replace(sql, 'lower(event)', 'instr(hex(zeroblob(100000)), hex(zeroblob(50000)) || event)');
""")
db.commit()
PYTHON
expect_status 1 timeout 60 "$scope" script -i busy.data
grep -q 'tables are missing or altered' err || die "the generated column is not refused: $(cat err)"
# Without its key a table is sorted in memory, and its rows may be without end.
for table in process heap phase phase_histogram parameter event; do
    cp good.data keyless.data
    sqlite3 keyless.data "PRAGMA legacy_alter_table = ON; CREATE TABLE copy AS SELECT * FROM $table; DROP TABLE $table; ALTER TABLE copy RENAME TO $table" 2>err ||
        die "$table: $(cat err)"
    expect_status 1 "$scope" report -i keyless.data
    grep -q 'tables are missing or altered' err || die "table $table without its key is not refused: $(cat err)"
done
# A row whose chain of pages leads to itself, of which SQLite copies all that its size pretends for each key that it
# compares, in one step: more memory than it may have, and more work than it may take.
craft() {
    cp good.data chain.data
    python3 - chain.data "$1" <<'PYTHON'
import sqlite3, struct, sys
path, wanted = sys.argv[1], int(sys.argv[2])
db = sqlite3.connect(path, isolation_level=None)
db.execute("BEGIN")
row = "INSERT OR REPLACE INTO process(process, pid, start_ns, command, runtime, late, ended) VALUES(?, ?, ?, 'x', 'eden', 0, 1)"
db.executemany(row, ((i, 1000 + i, i) for i in range(1, 20000)))
db.execute("COMMIT")
root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'meta'").fetchone()[0]
db.close()
PAGE = 4096
LOCAL = (PAGE - 12) * 32 // 255 - 23
payload = LOCAL + wanted // (PAGE - 4) * (PAGE - 4)
def varint(number):
    digits = [number & 127]
    while number := number >> 7:
        digits.insert(0, number & 127 | 128)
    return bytes(digits)
for size in range(6, 10):
    head = varint(size) + varint(15) + varint(8) + varint(12 + 2 * (payload - size - 1))
    if len(head) == size:
        break
with open(path, "r+b") as file:
    pages = file.seek(0, 2) // PAGE
    chain = struct.pack(">I", pages + 1)
    cell = varint(payload) + (head + b"a").ljust(LOCAL, b"\0") + chain
    rows = 4
    starts = [PAGE - (i + 1) * len(cell) for i in range(rows)]
    table = struct.pack(">BHHHB", 10, 0, rows, starts[-1], 0) + b"".join(struct.pack(">H", start) for start in starts)
    file.seek((root - 1) * PAGE)
    file.write(table.ljust(starts[-1], b"\0") + cell * rows)
    file.seek(pages * PAGE)
    file.write(chain)
    pages += payload // PAGE + 2
    file.truncate(pages * PAGE)
    file.seek(28)
    file.write(struct.pack(">I", pages))
PYTHON
    chown 65534 chain.data
}
for bytes in 12000000 2000000000; do
    craft $bytes
    for reader in report script "tune --json" "simulate --heap 1"; do
        # shellcheck disable=SC2086
        expect_status 1 timeout 60 "$scope" $reader --force -i chain.data
        grep -Eq 'reading it takes more (work|memory) than any recording' err || die "$reader: a chain of $bytes bytes: $(cat err)"
    done
done
echo "work within a step of SQLite's machine, and memory, are bounded"
mkfifo pipe.data
for reader in "${readers[@]}"; do
    # shellcheck disable=SC2086
    expect_status 1 timeout 60 "$scope" $reader -i pipe.data
done
echo "generated columns, tables without keys and pipes are refused"

# ---- counts near the largest ------------------------------------------------------------------------------------------

# Each count is 2^63 + STEP. A sum of such that wraps around is a multiple of STEP, or 2^63 and one: no view shows it.
cat >huge.py <<'PYTHON'
import csv, json, sqlite3, struct, sys
STEP = 10**12 + 39
HUGE = 2**63 + STEP
VIEWS = sys.argv[1:]
NO_COUNTS = {
    "heap": "heap process address heap_id name late complete ended_by_exec former_command earlier serial",
    "phase": "heap phase", "phase_histogram": "heap phase bucket low_ns high_ns", "pause": "event",
}
NO_COUNT = "('seq', 'heap_id', 'class_id', 'of_class', 'key_class_id', 'site', 'classes')"
# Where records of lifetimes hold a count or a sum of 64 bits, by kind of batch (probes/eden_batches.h).
SUMS = {0: [56, 72, 80, 88], 1: [8, 16, 24], 2: range(24, 112, 8), 3: range(24, 112, 8), 9: [16, 24]}

def enlarge(db):
    for table, others in NO_COUNTS.items():
        names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        names = [name for name in names if name not in others.split() and not name.startswith(("before_", "collection_"))]
        db.execute(f"UPDATE {table} SET " + ", ".join(f"{name} = {HUGE - 2**64}" for name in names))
    for probe, position in db.execute("SELECT probe, position FROM probe_argument WHERE kind IN ('bytes', 'count', 'ns')"
                                      f" AND name NOT IN {NO_COUNT}").fetchall():
        db.execute(f"UPDATE event SET a{position} = {HUGE - 2**64} WHERE probe = {probe}")
    for batch, kind, size, data in db.execute("SELECT batch, kind, record_bytes, data FROM life_batch").fetchall():
        data = bytearray(data)
        for start in range(0, len(data), size):
            for offset in SUMS.get(kind, ()):
                struct.pack_into("<Q", data, start + offset, HUGE)
        db.execute("UPDATE life_batch SET data = ? WHERE batch = ?", (bytes(data), batch))

def numbers(part, path):
    if isinstance(part, (dict, list)):
        for key, value in part.items() if isinstance(part, dict) else enumerate(part):
            yield from numbers(value, f"{path}.{key}")
    elif isinstance(part, (int, float)):
        yield path, part

if not VIEWS:
    with sqlite3.connect("huge.data") as db:
        enlarge(db)
for view in VIEWS:
    with open(view) as file:
        rows = csv.DictReader(file) if view == "csv" else [json.load(file)]
        shown = dict(numbers([float(row["memory_bytes"]) for row in rows] if view == "csv" else rows, view))
    for path, number in shown.items():
        assert number in (0, float(HUGE), 2.0**64) or number % STEP != 0 and number < 2**63, (path, number)
    assert 2.0**64 in shown.values(), f"{view} shows no sum"
PYTHON
"$scope" record --objects --lifetimes --sampling nth=4 -o huge.data -- "$exercise" >/dev/null 2>&1
python3 huge.py
views="pauses stops histogram phases causes timeline heap remembered classes histo"
for view in $views; do
    expect_status 0 "$scope" report --view "$view" --json -i huge.data
    mv out "$view"
done
expect_status 0 "$scope" lifetimes --json -i huge.data
mv out lifetimes
expect_status 0 "$scope" lifetimes --view csv -i huge.data
mv out csv
expect_status 0 "$scope" diff --json huge.data huge.data
mv out diff
# shellcheck disable=SC2086
python3 huge.py $views lifetimes diff csv
expect_status 0 "$scope" report -i huge.data
! grep 'recorded without its start' out || die "there are causes of more collections than there were"
echo "no sum of large counts wraps around"

# ---- rights -------------------------------------------------------------------------------------------------------

"$scope" record --objects -o large.data -- "$exercise" 2 >/dev/null 2>&1
mkfifo lines
"$scope" script -i large.data >lines &
reader=$!
exec 8<lines
has_no_rights() {
    grep -q 'CapEff:[[:space:]]*0000000000000000' "/proc/$reader/status" &&
        grep -q 'NoNewPrivs:[[:space:]]*1' "/proc/$reader/status" && grep -q 'Seccomp:[[:space:]]*2' "/proc/$reader/status"
}
until_true "the reader has no rights" has_no_rights
cat <&8 >/dev/null
exec 8<&-
wait "$reader" || die "script without rights failed"
echo "readers have no rights"

# ---- where a recording is put ---------------------------------------------------------------------------------------

for suffix in -wal -shm -journal; do
    echo diary >"good.data$suffix"
    before=$(state good.data "good.data$suffix")
    expect_status 1 "$scope" record --force -o good.data -- true
    grep -q -- "good.data$suffix: stands beside" err || die "$suffix is not named: $(cat err)"
    [[ $(state good.data "good.data$suffix") == "$before" ]] || die "$suffix: something was changed"
    expect_status 1 "$scope" record -o new.data$suffix/ -- true
    mv "good.data$suffix" "new.data$suffix"
    expect_status 1 "$scope" record -o new.data -- true
    [[ $(cat "new.data$suffix") == diary && ! -e new.data ]] || die "$suffix: something was recorded"
    rm "new.data$suffix"
done

mkdir sticky target
chmod 1777 sticky
ln -s ../good.data sticky/file
ln -s ../target sticky/folder
ln -s ../target/new.data sticky/nowhere
cp good.data sticky/theirs.data
chown -h 65534 sticky/*
before=$(state good.data sticky/theirs.data)
for path in file folder/new.data nowhere theirs.data; do
    expect_status 1 "$scope" record -o "sticky/$path" -- true
    expect_status 1 "$scope" lifetimes --pretenure "sticky/$path" -- "$exercise"
    grep -Eq 'another user' err || die "$path: the owner is not reported: $(cat err)"
done
[[ $(state good.data sticky/theirs.data) == "$before" && -z $(ls target) ]] || die "something was written through a link"
[[ $(echo sticky/*) == "sticky/file sticky/folder sticky/nowhere sticky/theirs.data" ]] || die "left over: $(ls sticky)"
expect_status 0 "$scope" record --force -o sticky/theirs.data -- "$exercise"
[[ $(stat -c %u sticky/theirs.data) == 0 ]] || die "--force writes into the other user's file"
ln -s good.data own
expect_status 0 "$scope" record -o own -- "$exercise"
[[ -L own ]] || die "the caller's own link is replaced"
echo "recordings go where the caller says, and nowhere else"

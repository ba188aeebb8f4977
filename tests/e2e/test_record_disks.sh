#!/usr/bin/env bash
# Recording to file systems that refuse: one with a reserve for root, one with a quota, one that turns read-only; and to
# those without files that have no name. The old recording or the new one is at the path; one that is cut short says so, and
# the message names the file. All mounts are in a mount namespace of this test, and end with it.
# shellcheck source=tests/e2e/common.sh
if [[ ${IN_NAMESPACE:-} != yes ]]; then
    [[ $EUID == 0 ]] || { echo "takes root"; exit 77; }
    IN_NAMESPACE=yes unshare -m --propagation private true 2>/dev/null || { echo "takes a mount namespace"; exit 77; }
    IN_NAMESPACE=yes exec unshare -m --propagation private "$0"
fi
. "$(dirname "$0")/common.sh"
need_edenscope
PATH=$PATH:/usr/sbin:/sbin
enter_folder
mkdir disk
trap 'umount -l disk/over disk 2>/dev/null || true; cleanup' EXIT

"$scope" record -o old.data -- "$exercise" >/dev/null 2>&1

# make_disk KIND BYTES OPTION...: an empty file system in a file, with the old recording on it.
make_disk() {
    umount disk 2>/dev/null || true
    rm -f image
    truncate -s "$2" image
    "mkfs.$1" -q "${@:3}" image >/dev/null 2>&1
    mount -o loop image disk 2>err || { echo "no loop devices here: $(cat err)"; exit 77; }
    cp old.data disk/eden.data
}

# A recording that fills the disk is cut short, and says so.
is_cut_short() {
    grep -q "^edenscope: disk/eden.data: $1" err || die "$2: what is wrong is not reported: $(cat err)"
    grep -q 'recording stopped' err || die "$2: it does not say that recording ended: $(cat err)"
    grep -q '^done$' out || die "$2: the program did not run on to its end"
    "$scope" report -i disk/eden.data >report 2>&1 || true
    grep -Eq 'cut short' report || die "$2: it is taken for whole: $(head -n 5 report)"
}

# The old recording is there, and nothing beside it.
is_old() {
    cmp old.data disk/eden.data || die "$1 has cost the old recording: $(cat err)"
    [[ $(cd disk && echo eden.data*) == eden.data ]] || die "$1: left over: $(ls disk)"
    grep -q 'disk/eden.data' err || die "$1: the message names no file: $(cat err)"
}

# ---- no room for a private copy ----

mkdir small
mount -t tmpfs -o size=16K small small
cp old.data theirs.data
chown 65534 theirs.data
TMPDIR=$PWD/small expect_status 1 "$scope" report --force -i theirs.data
grep -q "theirs.data: cannot be copied to $PWD/small: No space left on device; free some space there" err ||
    die "the full folder is not named: $(cat err)"
# What tune records for itself has its place from TMPDIR.
TMPDIR=$PWD/small expect_status 1 "$scope" tune -- true
grep -q "$PWD/small/.*: No space left on device; free some disk space, or set TMPDIR to a folder with more room" err ||
    die "tune names another cure: $(cat err)"
umount small

# ---- a reserve for root ----------------------------------------------------------------------------------------------

make_disk ext4 8M -m 10
expect_status 1 "$scope" record --objects -o disk/eden.data -- "$exercise" 3
is_cut_short 'the file system has less than [0-9.]* MB left, apart from root.s reserve' "a reserve"
(($(stat -f -c %a disk) > 0)) || die "the reserve was used"
rm disk/eden.data
cp old.data disk/eden.data
fallocate -l "$((($(stat -f -c %a disk) - 300) * $(stat -f -c %S disk)))" disk/filler
free=$(stat -f -c %f disk)
expect_status 1 "$scope" record -o disk/eden.data -- "$exercise"
is_old "a disk with nothing but its reserve"
((free - $(stat -f -c %f disk) < 16)) || die "the reserve was used for a new recording"
echo "root's reserve is left alone"

# ---- a file system that turns read-only ------------------------------------------------------------------------------

make_disk ext4 64M
mkfifo go
rm -f out
"$exercise" --wait 10 <go >out &
program=$!
exec 7>go
until_true "the program is ready" grep -q ready out
"$scope" record -v -o disk/eden.data -p "$program" 2>err &
tool=$!
is_replaced() { ! cmp -s old.data disk/eden.data; }
until_true "the old recording is replaced" is_replaced
mount -o remount,abort disk
echo go >&7
exec 7>&-
status=0
wait "$tool" || status=$?
[[ $status == 1 ]] || die "a disk that turns read-only gave status $status: $(cat err)"
wait "$program" || die "the program came to harm"
is_cut_short '' "a disk that turns read-only"
expect_status 1 "$scope" record -o disk/eden.data -- "$exercise"
grep -q 'disk/eden.data.*Read-only' err || die "it does not say that the disk is read-only: $(cat err)"
echo "a disk that turns read-only ends a recording, and nothing else"

# ---- a quota ---------------------------------------------------------------------------------------------------------

umount disk
has_quota=no
if command -v mkfs.btrfs >/dev/null && grep -qw btrfs /proc/filesystems; then
    make_disk btrfs 160M
    btrfs quota enable disk
    btrfs subvolume create disk/part >/dev/null
    btrfs qgroup limit 8M disk/part
    mv disk/eden.data disk/part/
    mount --bind disk/part disk
    sync
    expect_status 1 "$scope" record --objects -o disk/eden.data -- "$exercise" 3
    is_cut_short 'writing failed: Disk quota exceeded' "a quota"
    rm disk/eden.data*
    cp old.data disk/eden.data
    sync
    dd if=/dev/urandom of=disk/filler bs=64K >/dev/null 2>&1 || true
    sync
    expect_status 1 "$scope" record -o disk/eden.data -- "$exercise"
    grep -q quota err || die "the quota is not named: $(cat err)"
    is_old "a quota that is used up"
    umount disk
    umount disk
    has_quota=yes
    echo "a quota ends a recording, and costs no old one"
fi

# ---- others ----------------------------------------------------------------------------------------------------------

mount -t ramfs none disk
cp old.data disk/eden.data
expect_status 0 "$scope" record -o disk/eden.data -- "$exercise"
[[ $(sqlite3 disk/eden.data "SELECT value FROM meta WHERE key = 'finished'") == 1 ]] || die "ramfs: the recording is not finished"
mkdir disk/lower disk/upper disk/work disk/over
mv disk/eden.data disk/lower
if mount -t overlay -o lowerdir=disk/lower,upperdir=disk/upper,workdir=disk/work none disk/over 2>err; then
    expect_status 0 "$scope" record -o disk/over/eden.data -- "$exercise"
    [[ $(sqlite3 disk/upper/eden.data "SELECT value FROM meta WHERE key = 'finished'") == 1 ]] || die "overlay: the recording is not finished"
    umount disk/over
fi
echo "ramfs and overlay hold recordings"
[[ $has_quota == yes ]] || { echo "a quota takes btrfs, and mkfs.btrfs"; exit 77; }

#!/usr/bin/env bash
# systemd_alone.sh FOLDER: runs FOLDER/script under a systemd that is process 1 of namespaces of its own, and knows only
# the units in FOLDER/units. There FOLDER is /mnt, whose files out and err get what the script prints. All else of the file
# system is empty or read-only, so nothing of the machine changes. Takes root and cgroup2; 77: there is none to write to.
set -euo pipefail
export FOLDER
FOLDER=$(readlink -f "$1")
group=$(findmnt -rn -t cgroup2 -o TARGET | head -n 1)/eden-$$
mkdir "$group" 2>/dev/null || exit 77

# What the script has started ends with process 1, and with it its groups.
remove() {
    local i
    for ((i = 0; i < 100; i++)); do
        find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
        [[ -e $group ]] || return 0
        sleep 0.1
    done
}
trap remove EXIT

inside() {
    set -euo pipefail
    mount -t proc proc /proc
    mount --bind /proc/sys /proc/sys
    mount -o remount,bind,ro /proc/sys
    umount -R /sys/fs/cgroup
    mount -t cgroup2 none /sys/fs/cgroup
    mount --bind "$FOLDER" /mnt
    local empty
    for empty in /run /dev /lib/systemd/system /lib/systemd/system-generators /etc/systemd /var/log /var/tmp /var/lib /tmp; do
        mount -t tmpfs -o mode=755 none "$empty"
    done
    chmod 1777 /tmp /var/tmp
    mkdir -p /etc/systemd/system /run/lock /dev/shm /dev/pts /dev/mqueue /dev/hugepages
    local name numbers
    while read -r name numbers; do
        # shellcheck disable=SC2086 # two words
        mknod -m 666 "/dev/$name" c $numbers
    done <<<$'null 1 3\nzero 1 5\nfull 1 7\nrandom 1 8\nurandom 1 9\ntty 5 0\nptmx 5 2'
    ln -s /proc/self/fd /dev/fd
    cp /mnt/units/* /etc/systemd/system
    for name in sysinit basic shutdown; do
        printf '[Unit]\nDefaultDependencies=no\n' >"/lib/systemd/system/$name.target"
    done
    cat >/etc/systemd/system/script.service <<'UNIT'
[Unit]
DefaultDependencies=no
[Service]
Type=oneshot
WorkingDirectory=/mnt
ExecStart=/bin/bash /mnt/script
ExecStopPost=/bin/systemctl --force --force poweroff
StandardOutput=append:/mnt/out
StandardError=append:/mnt/err
TimeoutStartSec=120
UNIT
    mount -o remount,bind,ro /
    exec env -i PATH="$PATH" container=eden /lib/systemd/systemd --system --unit=script.service --show-status=no
}
export -f inside

(
    echo "$BASHPID" >"$group/cgroup.procs"
    exec unshare --mount --propagation private --pid --fork --cgroup --uts --ipc bash -c inside
) >"$FOLDER/log" 2>&1 || true # process 1 ends by the signal that a power-off is

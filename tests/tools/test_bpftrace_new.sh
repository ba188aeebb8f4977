#!/usr/bin/env bash
# A later bpftrace than Debian 12's, that of Debian unstable in a root of its own (UNSTABLE=DIR: this one), lists all probes and reads all twelve
# arguments of a scavenge.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../e2e/common.sh"

[[ $EUID == 0 ]] || { echo "takes root"; exit 77; }
program=$(readlink -f "$build/tests/children")
root=${UNSTABLE:-}
if [[ -z $root ]]; then
    root=$(mktemp -d /var/tmp/eden.XXXXXX)
    trap 'cleanup; rm -rf --one-file-system "$root"' EXIT
    mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' |
        awk '$2 == "bookworm" && $1 !~ /security/ { print $1; exit }')
    debootstrap --variant=minbase --include=bpftrace sid "$root" "$mirror" >"$folder/log" 2>&1 ||
        die "debootstrap: $(tail -n 3 "$folder/log")"
fi
within() {
    # shellcheck disable=SC2016
    unshare -m sh -c 'for each in proc sys dev; do mount --rbind "/$each" "$1/$each"; done; exec chroot "$@"' sh "$root" "$@"
}
cp "$program" "$root/root/children"
version=$(within bpftrace --version)
probes=$(within bpftrace -l 'usdt:/root/children:eden:*' 2>/dev/null | grep usdt: | sort -u | wc -l)
[[ $probes == $(readelf -n "$program" | grep -c 'Provider: eden$') ]] || die "$version lists $probes probes"
values=$(seq -s ', ' -f 'arg%g' 0 11) format=$(printf '%%lu %.0s' {0..11})
within bpftrace -e "usdt:/root/children:eden:scavenge__done { printf(\"$format\n\", $values); }" -c '/root/children one' \
    >"$folder/out" 2>"$folder/err" || die "$version: $(cat "$folder/err")"
made=$(awk '$1 ~ /^[0-9]+$/ && NF == 4 { print $2 }' "$folder/out")
awk 'NF == 12' "$folder/out" >"$folder/seen"
[[ $(awk '{ print $2 }' "$folder/seen" | xargs) == "$(seq "$made" | xargs)" ]] || die "of $made scavenges: $(cat "$folder/out")"
# The semispace's bounds, and nothing pretenured; each time the same heap.
awk '$10 - $9 != size && size { exit 1 } { size = $10 - $9 } size <= 0 || $11 || $12 || ($1 != heap && heap) { exit 1 } { heap = $1 }' \
    "$folder/seen" || die "other arguments: $(cat "$folder/seen")"
echo "$version lists $probes probes and reads 12 arguments of each of $made scavenges"

#!/bin/sh
# container.sh ARCHIVE.tar.xz OUT.tar: makes the root folder of a container with warpgrind and g++ on Debian 12, without pulling an image.
#   podman import OUT.tar warpgrind        or docker import
#   podman run --rm -v "$PWD:/work" -w /work warpgrind warpgrind check app.cu
# As root, with debootstrap. SUITE=trixie chooses another release, MIRROR=... another mirror.
set -eu
[ $# -eq 2 ] || { sed -n '2,5s/^# //p' "$0"; exit 2; }
archive=$1 out=$2
[ -f "$archive" ] || { echo "container.sh: there is no file $archive: make package makes it" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "container.sh: debootstrap is missing: apt-get install debootstrap" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || { echo "container.sh: debootstrap must be run as root" >&2; exit 1; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
log=$out.log
debootstrap --variant=minbase --include=g++,make,ca-certificates,xz-utils "${SUITE:-bookworm}" "$root" ${MIRROR:+"$MIRROR"} >"$log" 2>&1 ||
  { tail -n 5 "$log" >&2; echo "container.sh: debootstrap failed: $log" >&2; exit 1; }
"$(dirname "$0")/install.sh" --prefix "$root/usr/local" --from "$archive" >/dev/null
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$log"
tar -C "$root" -cf "$out" .
echo "$out: $(du -m "$out" | cut -f1) MB"

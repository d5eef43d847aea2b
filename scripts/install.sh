#!/bin/sh
# Installs warpgrind from its archive (`make package` makes it) on any Linux for x86-64 with glibc 2.31 or newer.
#   install.sh [--prefix DIR] [--from ARCHIVE]   to DIR/lib/warpgrind-VERSION, with a link DIR/bin/warpgrind; DIR is /usr/local for
#                                                root, and ~/.local for others. An earlier installation of the same version is replaced
#   install.sh --remove [--prefix DIR]           removes all versions there
# ARCHIVE: a file or an address (https://...) of warpgrind-VERSION-linux-x86_64.tar.xz. Without it, the folder of this script is
# installed, which is the unpacked archive.
set -eu

fail() { echo "install.sh: $1" >&2; exit 1; }

prefix="" from="" remove=""
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ $# -gt 1 ] || fail "--prefix needs a folder"; prefix=$2; shift 2 ;;
    --from) [ $# -gt 1 ] || fail "--from needs a file or an address"; from=$2; shift 2 ;;
    --remove) remove=1; shift ;;
    -h | --help) sed -n 's/^# \{0,1\}//p' "$0" | tail -n +2; exit 0 ;;
    *) fail "unknown argument '$1' (install.sh --help)" ;;
  esac
done
if [ -z "$prefix" ]; then
  if [ "$(id -u)" -eq 0 ]; then prefix=/usr/local; else prefix=${HOME:?}/.local; fi
fi

if [ -n "$remove" ]; then
  found=$(ls -d "$prefix"/lib/warpgrind-* 2>/dev/null || true)
  [ -n "$found" ] || fail "there is no warpgrind in $prefix/lib"
  echo "$found" | while read -r folder; do rm -rf "$folder"; done
  rm -f "$prefix/bin/warpgrind"
  echo "removed: $(echo "$found" | tr '\n' ' ')"
  exit 0
fi

# The machine: what it lacks is named before anything is copied.
[ "$(uname -sm)" = "Linux x86_64" ] || fail "warpgrind needs Linux on x86-64; this is $(uname -sm)"
for feature in avx2 fma bmi2; do
  grep -qw "$feature" /proc/cpuinfo || fail "warpgrind needs a processor with AVX2, FMA and BMI2 (2013 or later); this one has no $feature"
done
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2)
[ -n "$glibc" ] || fail "warpgrind needs glibc, which this system does not have"
oldest=$(printf '2.31\n%s\n' "$glibc" | sort -t. -k1,1n -k2,2n | head -n 1)
[ "$oldest" = 2.31 ] || fail "warpgrind needs glibc 2.31 or newer; this system has $glibc"

temporary=""
trap '[ -z "$temporary" ] || rm -rf "$temporary"' EXIT
if [ -n "$from" ]; then
  temporary=$(mktemp -d)
  case $from in
    http://* | https://*)
      if command -v curl >/dev/null; then curl -fsSL -o "$temporary/archive" "$from"
      elif command -v wget >/dev/null; then wget -q -O "$temporary/archive" "$from"
      else fail "curl or wget is needed for $from"; fi || fail "$from could not be had"
      from=$temporary/archive ;;
  esac
  [ -f "$from" ] || fail "there is no file $from"
  command -v xz >/dev/null || fail "xz is needed to unpack the archive (Debian: apt-get install xz-utils)"
  tar -C "$temporary" -xJf "$from" || fail "$from is no whole archive"
  source=$(ls -d "$temporary"/warpgrind-*/ 2>/dev/null | head -n 1)
  [ -n "$source" ] || fail "$from holds no warpgrind"
  source=${source%/}
else
  source=$(cd "$(dirname "$0")" && pwd)
fi
[ -x "$source/bin/warpgrind" ] || fail "$source holds no bin/warpgrind: name the archive with --from"

version=$("$source/bin/warpgrind" --version) || fail "$source/bin/warpgrind does not start"
version=${version##* }
target=$prefix/lib/warpgrind-$version
[ "$source" != "$target" ] || fail "$target is what is to be installed"
mkdir -p "$prefix/lib" "$prefix/bin" || fail "$prefix cannot be written"
rm -rf "$target.new"
cp -R "$source" "$target.new" || { rm -rf "$target.new"; fail "$target cannot be written"; }
rm -rf "$target"
mv "$target.new" "$target"
ln -sfn "../lib/warpgrind-$version/bin/warpgrind" "$prefix/bin/warpgrind"

# Precompiled headers make the first compilation of a CUDA program short (11 CPU seconds, 130 MB). It also works without.
command -v g++ >/dev/null && "$prefix/bin/warpgrind" prepare --installation >/dev/null 2>&1 || true

echo "installed: $prefix/bin/warpgrind, version $version"
case :$PATH: in
  *:"$prefix/bin":*) ;;
  *) echo "put it into the search path: export PATH=$prefix/bin:\$PATH" ;;
esac
command -v g++ >/dev/null || echo "g++ is missing: it is needed to compile .cu files, not to run programs (Debian, Ubuntu: apt-get install g++; Fedora: dnf install gcc-c++)"

#!/bin/sh
# link_stub.sh NM CC LIBRARY SONAME STUB: makes a shared library with the names of LIBRARY but without code, for the linker.
set -eu
nm=$1 cc=$2 library=$3 soname=$4 stub=$5
mkdir -p "$(dirname "$stub")"
{
  "$nm" -D --defined-only "$library" | sed -n 's/@.*//; s/^[0-9a-f]* [TWDi] \(.*\)$/.globl \1\n.type \1, @function\n\1:/p'
  echo '.section .note.GNU-stack,"",@progbits'
} >"$stub.s"
# Names have the library's version, which other libraries ask for (libcublas.so.13 is linked with the real one). Those of libnccl.so.2 have none.
version=
if "$nm" -D --defined-only "$library" | grep -q @; then version=$(basename "$soname" | tr - _); fi
echo "$version { *; };" >"$stub.map"
"$cc" -shared -nostdlib -s -Wl,-soname,"$soname" -Wl,--version-script="$stub.map" -Wl,--build-id=none -o "$stub" "$stub.s"
rm -f "$stub.s" "$stub.map"
chmod 644 "$stub"  # as Debian has libraries

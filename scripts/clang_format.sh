#!/bin/sh
# Prints the name of clang-format 14. Other versions format differently.
for name in clang-format-14 clang-format; do
  if command -v $name >/dev/null && $name --version | grep -q 'version 14\.'; then
    echo $name
    exit 0
  fi
done
echo "clang-format 14 is not installed (Debian: apt-get install clang-format-14)" >&2
echo clang-format-14

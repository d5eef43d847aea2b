#!/bin/sh
# build.sh FOLDER TARGET...: configures FOLDER once (release; CMAKE_ARGS adds to it) and builds the targets. On a
# terminal it shows ninja's line; elsewhere it prints a line of progress each half minute. Messages of compilers are always shown.
set -eu
folder=$1
shift
if [ ! -f "$folder/build.ninja" ]; then
  mkdir -p "$folder"
  echo "build: configuring $folder"
  # shellcheck disable=SC2086  # a list of words on purpose
  cmake -G Ninja -S . -B "$folder" -DCMAKE_BUILD_TYPE=Release ${CMAKE_ARGS:-} >"$folder/configure.log" 2>&1 ||
    { cat "$folder/configure.log"; exit 1; }
fi
if [ -t 1 ]; then
  exec ninja -C "$folder" "$@"
fi
# Status of ninja, not of the filter: sh has no pipefail.
result=$(mktemp)
{ NINJA_STATUS='[%f/%t] ' ninja -C "$folder" "$@" 2>&1 && echo 0 >"$result" || echo 1 >"$result"; } |
  python3 "$(dirname "$0")/build_progress.py"
code=$(cat "$result")
rm -f "$result"
exit "${code:-1}"

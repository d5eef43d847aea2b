#!/bin/sh
# build.sh FOLDER TARGET...: configures FOLDER once (release; CMAKE_ARGS adds to it) and builds the targets. A terminal sees
# ninja's line; elsewhere there is a line each tenth of the way. What the compilers say is always shown.
set -eu
folder=$1
shift
if [ ! -f "$folder/build.ninja" ]; then
  mkdir -p "$folder"
  # shellcheck disable=SC2086  # a list of words on purpose
  cmake -G Ninja -S . -B "$folder" -DCMAKE_BUILD_TYPE=Release ${CMAKE_ARGS:-} >"$folder/configure.log" 2>&1 ||
    { cat "$folder/configure.log"; exit 1; }
fi
if [ -t 1 ]; then
  exec ninja -C "$folder" "$@"
fi
# The status of ninja, not of what filters it: sh has no pipefail.
{ NINJA_STATUS='[%f/%t] ' ninja -C "$folder" "$@" || echo "ninja failed"; } 2>&1 | awk '
  /^\[[0-9]+\/[0-9]+\] / {
    split(substr($1, 2), at, /[\/\]]/)
    tenth = int(10 * at[1] / at[2])
    if (tenth > told) { told = tenth; print "build: " 10 * tenth " % of " at[2] " steps"; fflush() }
    next
  }
  /^-- / || /^ninja: (Entering|no work)/ { next }
  /^ninja failed$/ { failed = 1; next }
  { print }
  END { exit failed }'

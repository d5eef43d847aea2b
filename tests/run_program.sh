#!/bin/sh
# run_program.sh WARPGRIND OPTION... PROGRAM...: `warpgrind run`, in a build for a sanitizer with the sanitizer's library first
# (CMakeLists.txt; whole_run.py does the same for the cases of tests/run).
warpgrind=$1
shift
LD_PRELOAD=$WARPGRIND_TEST_PRELOAD exec "$warpgrind" run "$@"

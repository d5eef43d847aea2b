#!/bin/bash
# fuzz.sh TARGET SECONDS FOLDER: runs FOLDER/bin/TARGET_fuzz (ptx_parser, fatbin, chain) from the seeds in tests/. What it finds
# stays in FOLDER/found/TARGET; exit code 0: nothing.
set -u
target=$1 seconds=$2 folder=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/corpus" "$folder/found/$target"
case $target in
  ptx_parser) seeds=(tests/parse/good tests/parse/bad) ;;
  # Kernels one by one: a launch of a whole file of them would spend its time on what did not change.
  chain) python3 tests/fuzz/seeds.py "$work/seeds" tests/exec/*.ptx tests/hardware/*.ptx tests/data/device/*.ptx \
           tests/parse/bad/*.ptx && seeds=("$work/seeds") ;;
  *) seeds=() ;;
esac
# A minute for an input: a kernel is stopped after two seconds, so that only what does not stop is a finding.
"$folder/bin/${target}_fuzz" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 -max_len=16384 -print_final_stats=1 -close_fd_mask=1 \
  -artifact_prefix="$folder/found/$target/" "$work/corpus" "${seeds[@]}"

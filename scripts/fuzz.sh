#!/bin/bash
# fuzz.sh TARGET SECONDS FOLDER [PROCESSES [CORPUS]]: runs FOLDER/bin/TARGET_fuzz (ptx_parser, fatbin, chain) from the seeds in
# tests/, in PROCESSES processes (1). Inputs that reach new code are kept in the folder CORPUS, for the next run; without it they
# go. What it finds stays in FOLDER/found/TARGET; exit code 0: nothing.
#
# fuzz.sh --pack FOLDER FILE.tar.xz: the targets with the libraries they need, the seeds and this script, for a machine that has
# only a Linux with a glibc at least as new, and python3: unpack, then `scripts/fuzz.sh chain 3600 . 16 corpus/chain`.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "$1" = --pack ]; then
  folder=$2 out=$3
  set -e
  mkdir -p "$work/bin" "$work/lib" "$work/scripts"
  cp "$folder"/bin/{ptx_parser,fatbin,chain}_fuzz "$work/bin"
  cp "$0" "$work/scripts/fuzz.sh"
  # glibc's own belong to the machine, as its loader does.
  ldd "$work"/bin/*_fuzz | awk '/=> \//{print $3}' | sort -u |
    grep -v -E '/(libc|libm|libresolv|libdl|libpthread|librt)\.so' | xargs cp -L -t "$work/lib"
  git ls-files tests/parse tests/exec tests/hardware tests/data/device tests/fuzz | grep -E "\.(ptx|py)$" | xargs cp --parents -t "$work"
  tar -C "$work" -c bin lib scripts tests | xz -T0 -6 >"$out"
  ls -l "$out"
  exit
fi

target=$1 seconds=$2 folder=$3 processes=${4:-1} corpus=${5:-$work/corpus}
mkdir -p "$corpus" "$folder/found/$target"
[ -d "$folder/lib" ] && export LD_LIBRARY_PATH="$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
case $target in
  ptx_parser) seeds=(tests/parse/good tests/parse/bad) ;;
  # Kernels one by one: a launch of a whole file of them would spend its time on what did not change.
  chain) python3 tests/fuzz/seeds.py "$work/seeds" tests/exec/*.ptx tests/hardware/*.ptx tests/data/device/*.ptx \
           tests/parse/bad/*.ptx && seeds=("$work/seeds") ;;
  *) seeds=() ;;
esac
# A minute for an input: a kernel is stopped after two seconds, so that only what does not stop is a finding.
limits=(-max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 -max_len=16384)
# Several processes: a parent that starts short runs from parts of the corpus and keeps what they add to it. It ends with the
# first finding.
[ "$processes" -gt 1 ] && limits+=(-fork="$processes")
"$folder/bin/${target}_fuzz" "${limits[@]}" -print_final_stats=1 -close_fd_mask=1 \
  -artifact_prefix="$folder/found/$target/" "$corpus" "${seeds[@]}"

#!/bin/bash
# fuzz.sh TARGET SECONDS FOLDER [PROCESSES [CORPUS]]: runs FOLDER/bin/TARGET_fuzz (ptx_parser, fatbin, chain) from the seeds in
# tests/, in PROCESSES processes (1). Inputs that reach new code are kept in the folder CORPUS, for the next run; without it they
# go. What it finds stays in FOLDER/found/TARGET; exit code 0: nothing. Several processes go on after a finding. Ended early
# (SIGINT, SIGTERM) it keeps what there is.
#
# Each process takes a slice of the corpus and of the seeds, so that reading them takes that part of the time, and has a folder
# of its own for what it adds; at the end CORPUS gets of these what no other input reaches (tests/fuzz/keep_finds.py).
#
# fuzz.sh --pack FOLDER FILE.tar.xz [CORPUS]: the chain target with the libraries it needs, the seeds, a corpus and this script,
# for a machine that has only a Linux with a glibc at least as new, and python3. There:
#   python3 -m tarfile -e FILE.tar.xz fuzz && OUT=results fuzz/run.sh SECONDS PROCESSES
# OUT (results): what was found, the log, and what the corpus gained.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "$1" = --pack ]; then
  folder=$2 out=$3 corpus=${4:-}
  set -e
  mkdir -p "$work/pack/"{bin,lib,scripts,corpus/chain} "$(dirname "$out")"
  cp "$folder/bin/chain_fuzz" "$work/pack/bin"
  # glibc's own belong to the machine, as its loader does.
  ldd "$work"/pack/bin/*_fuzz | awk '/=> \//{print $3}' | sort -u |
    grep -v -E '/(libc|libm|libresolv|libdl|libpthread|librt)\.so' | xargs cp -L -t "$work/pack/lib"
  cp "$0" "$work/pack/scripts/fuzz.sh"
  git ls-files tests/parse tests/data tests/fuzz | grep -E "\.(ptx|py)$" | xargs cp --parents -t "$work/pack"
  cp -r "$folder/tests/cases" "$work/pack/tests"
  if [ -n "$corpus" ]; then find "$corpus" -type f -exec cp -t "$work/pack/corpus/chain" {} +; fi
  cat >"$work/pack/run.sh" <<'RUN'
#!/bin/bash
# run.sh SECONDS PROCESSES: see scripts/fuzz.sh.
out=$(mkdir -p "${OUT:-results}" && cd "${OUT:-results}" && pwd)
cd "$(dirname "$0")" || exit
touch begun
scripts/fuzz.sh chain "$1" . "$2" corpus/chain >"$out/log" 2>&1
code=$?
cp -r found "$out"
find corpus/chain -type f -newer begun -print0 | tar --null -T - -czf "$out/corpus.tar.gz"
grep -v '^ *#' "$out/log" | tail -3
ls found/chain
exit $code
RUN
  chmod +x "$work/pack/run.sh"
  tar -C "$work/pack" -c . | xz -T0 -6 >"$out"
  ls -l "$out"
  exit
fi

target=$1 seconds=$2 folder=$3 processes=${4:-1} corpus=${5:-$work/corpus}
found=$folder/found/$target
mkdir -p "$corpus" "$found"
[ -d "$folder/lib" ] && export LD_LIBRARY_PATH="$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
case $target in
  ptx_parser) seeds=(tests/parse/good tests/parse/bad) ;;
  # Kernels one by one: a launch of a whole file of them would spend its time on what did not change.
  chain) python3 tests/fuzz/seeds.py "$work/seeds" "$folder"/tests/cases/*/*.ptx tests/data/*/*.ptx \
           tests/parse/bad/*.ptx && seeds=("$work/seeds") ;;
  *) seeds=() ;;
esac
# A minute for an input: a kernel is stopped after two seconds, so that only what does not stop is a finding.
limits=(-timeout=60 -rss_limit_mb=4096 -max_len=16384 -print_final_stats=1 -close_fd_mask=1)
find "$corpus" "${seeds[@]}" -type f -size +0 | sort >"$work/inputs"
end=$((SECONDS + seconds))

content() { sha1sum "$@" | cut -d ' ' -f 1; }

# The slice number $1, until the time is over; with one process until something is found. Files in its folder: inputs, the
# slice (with commas); finds, what it adds; features.N, what each input of the N-th turn alone reached when it was added.
# Exit code 0: nothing was found.
take_slice() {
  local number=$1 own=$work/$1 turn=0 code=0 result=0 child='' stopped='' file sum findings
  mkdir -p "$own"/{finds,artifacts,running}
  awk -v n="$processes" -v k="$number" 'NR % n == k % n' "$work/inputs" >"$own/list"
  trap 'stopped=1; [ -z "$child" ] || kill "$child"' TERM
  while [ -z "$stopped" ] && [ $SECONDS -lt $end ]; do
    turn=$((turn + 1))
    mkdir "$own/features.$turn"
    paste -sd, "$own/list" >"$own/inputs"
    FUZZ_RUNNING=$own/running "$folder/bin/${target}_fuzz" "${limits[@]}" -max_total_time=$((end - SECONDS)) \
      -artifact_prefix="$own/artifacts/" -features_dir="$own/features.$turn" \
      $([ -s "$own/list" ] && echo "-seed_inputs=@$own/inputs") "$own/finds" &
    child=$!
    while wait "$child"; code=$?; kill -0 "$child" 2>/dev/null; do :; done
    child=''
    [ $code -ne 0 ] && [ -z "$stopped" ] || break
    result=1
    # What it died of without being able to say so.
    for file in "$own"/running/*; do
      [ -s "$file" ] || continue
      sum=$(content "$file")
      ls "$own"/artifacts/*-"$sum" >/dev/null 2>&1 || cp "$file" "$own/artifacts/silent-$sum"
    done
    rm -f "$own"/running/*
    findings=$(ls "$own/artifacts")
    echo "process $number ended with exit code $code: ${findings:-no input}"
    [ -n "$findings" ] && [ "$processes" -gt 1 ] || break
    # It goes on without these, in case they were given to it.
    sum=$(content "$own"/artifacts/*)
    while read -r file; do
      grep -q "$(content "$file")" <<<"$sum" || echo "$file"
    done <"$own/list" >"$own/rest"
    mv "$own/rest" "$own/list"
    mv "$own"/artifacts/* "$found"
  done
  find "$own/artifacts" -type f -exec mv -t "$found" {} +
  return $result
}

slices=()
trap 'kill "${slices[@]}"' INT TERM
for ((k = 1; k <= processes; ++k)); do
  mkdir "$work/$k"
  take_slice "$k" 2>"$work/$k/log" &
  slices+=($!)
done
# One process is watched as it goes; of several the counts come at the end.
[ "$processes" -gt 1 ] || tail -f --pid="${slices[0]}" "$work/1/log" 2>/dev/null &
code=0
for slice in "${slices[@]}"; do
  while wait "$slice"; slice_code=$?; kill -0 "$slice" 2>/dev/null; do :; done
  [ $slice_code -eq 0 ] || code=1
done
wait
[ "$processes" -eq 1 ] || grep -h -v -E '^(#|INFO:|stat::|Done )|" # Uses: ' "$work"/*/log
awk -v processes="$processes" -v seconds="$SECONDS" '/^stat::number_of_executed_units:/ {runs += $2}
  END {printf "%d runs in %d s, %d processes\n", runs, seconds, processes}' "$work"/*/log
[ $# -lt 5 ] || python3 tests/fuzz/keep_finds.py "$corpus" $(seq -f "$work/%g" "$processes") || code=1
exit $code

#!/bin/bash
# fuzz.sh TARGET SECONDS FOLDER [PROCESSES [CORPUS]]: runs FOLDER/bin/TARGET_fuzz (ptx_parser, fatbin, chain, debuginfo) in PROCESSES processes
# (default 1), from the seeds in tests/. Inputs that reach new code are stored in the folder CORPUS for the next run, if it is given.
# Findings are stored in FOLDER/found/TARGET; exit code 0: none. Several processes continue after a finding. If it is ended early
# (SIGINT, SIGTERM), it stores what it has.
#
# Each process takes a slice of the corpus and the seeds, which divides the time to read them, and has its own folder for new
# inputs. At the end, those that reach code which no other input reaches go into CORPUS (tests/fuzz/keep_finds.py).
#
# fuzz.sh --pack FOLDER FILE.tar.xz [CORPUS]: packs the chain target with its libraries, the seeds, a corpus and this script. The
# other machine needs only Linux, python3 and a glibc at least as new. There:
#   python3 -m tarfile -e FILE.tar.xz fuzz && OUT=results fuzz/run.sh SECONDS PROCESSES
# OUT (default: results) gets the findings, the log and the new inputs.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "$1" = --pack ]; then
  folder=$2 out=$3 corpus=${4:-}
  set -e
  mkdir -p "$work/pack/"{bin,lib,scripts,corpus/chain} "$(dirname "$out")"
  cp "$folder/bin/chain_fuzz" "$work/pack/bin"
  # Not the libraries of glibc: they must match the machine's loader.
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
  debuginfo) seeds=(tests/debuginfo) longest=32768 ;;
  # Kernels one by one: in a file of many kernels, most of the time would go to unchanged ones.
  # Not the 643 products of tensor_cores.ptx: to read them alone takes minutes.
  chain) find "$folder"/tests/cases -name '*.ptx' ! -name tensor_cores.ptx -print0 |
           xargs -0 python3 tests/fuzz/seeds.py "$work/seeds" tests/data/*/*.ptx tests/parse/bad/*.ptx &&
           seeds=("$work/seeds") ;;
  *) seeds=() ;;
esac
# One minute per input: kernels are stopped after two seconds, so a timeout means that stopping failed.
limits=(-timeout=60 -rss_limit_mb=4096 -max_len=${longest:-16384} -print_final_stats=1 -close_fd_mask=1)
find "$corpus" "${seeds[@]}" -type f -size +0 | sort >"$work/inputs"
end=$((SECONDS + seconds))

content() { sha1sum "$@" | cut -d ' ' -f 1; }

# Fuzzes slice number $1 until the time is over; with one process, until the first finding. Files in its folder: inputs, the
# slice (with commas); finds, new inputs; features.N, the features that each input of turn N added. Exit code 0: no finding.
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
    # Inputs that were running when it died without writing an artifact.
    for file in "$own"/running/*; do
      [ -s "$file" ] || continue
      sum=$(content "$file")
      ls "$own"/artifacts/*-"$sum" >/dev/null 2>&1 || cp "$file" "$own/artifacts/silent-$sum"
    done
    rm -f "$own"/running/*
    findings=$(ls "$own/artifacts")
    echo "process $number ended with exit code $code: ${findings:-no input}"
    [ -n "$findings" ] && [ "$processes" -gt 1 ] || break
    # The next process must not get these inputs again.
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
# With one process its output is shown live; with several, the counts come at the end.
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

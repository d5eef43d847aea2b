#!/bin/bash
# Builds and runs the base of a pull request, and compares the counters of each process with this commit's. Called by action.yml.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ -f "$reports/run.json" ] || { echo "::error::'compare' needs counters: set 'tool' to run or both"; exit 1; }
read -r -a options <<<"${WG_OPTIONS:-}"
lines_as --fail-if "${WG_FAIL_IF:-}" && rules=("${words[@]}")

base=$RUNNER_TEMP/warpgrind-base
git cat-file -e "$WG_BASE^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$WG_BASE"
git worktree add --quiet --force --detach "$base" "$WG_BASE"
code=0
(
  cd "$base"
  bash -eo pipefail -c "${WG_BUILD:-true}"
  warpgrind run --quiet --gpu "$WG_GPU" --json "$reports/base.json" "${options[@]}" bash -eo pipefail -c "$WG_COMMAND"
) >"$reports/base.txt" 2>&1 || code=$?
if [ "$code" -ne 0 ] || [ ! -f "$reports/base.json" ]; then
  echo "::warning::the base of the pull request could not be run (exit code $code): nothing is compared"
  text_block "The base of the pull request could not be run" "$reports/base.txt"
  exit 0
fi

mapfile -t before < <(profiles base)
mapfile -t after < <(profiles run)
[ ${#before[@]} -eq ${#after[@]} ] ||
  echo "::warning::the base used CUDA in ${#before[@]} processes, this commit in ${#after[@]}: they are compared in their order"
for ((i = 0; i < ${#before[@]} && i < ${#after[@]}; ++i)); do
  warpgrind diff "${rules[@]}" "${before[$i]}" "${after[$i]}" || code=$?
done >"$reports/diff.txt" 2>&1
cat "$reports/diff.txt"
echo "$code" >"$reports/diff.code"

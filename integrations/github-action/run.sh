#!/bin/bash
# Runs WG_COMMAND under `warpgrind run` and `warpgrind check`, keeps their reports, and writes the job's summary. It never fails because
# of what it found: verdict.sh does. Called by action.yml.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mkdir -p "$reports/sarif"
read -r -a options <<<"${WG_OPTIONS:-}"
lines_as --expect "${WG_EXPECT:-}" && expectations=("${words[@]}")
lines_as --require-kernels "${WG_REQUIRE_KERNELS:-}" && required=("${words[@]}")
command=(bash -eo pipefail -c "$WG_COMMAND")

case ${WG_TOOL:=both} in
  run | check | both) ;;
  *) echo "::error::tool is '$WG_TOOL', and must be run, check or both"; exit 1 ;;
esac
if [ "$WG_TOOL" != check ]; then
  echo "::group::warpgrind run"
  code=0
  warpgrind run --gpu "$WG_GPU" --json "$reports/run.json" --junit "$reports/run.xml" --sarif "$reports/sarif/run.sarif" \
    "${options[@]}" "${expectations[@]}" "${required[@]}" "${command[@]}" 2> >(tee "$reports/run.txt" >&2) || code=$?
  echo "$code" >"$reports/run.code"
  echo "::endgroup::"
fi
if [ "$WG_TOOL" != run ]; then
  echo "::group::warpgrind check"
  code=0
  warpgrind check --gpu "$WG_GPU" --json "$reports/check.json" --junit "$reports/check.xml" --sarif "$reports/sarif/check.sarif" \
    "${options[@]}" "${command[@]}" 2> >(tee "$reports/check.txt" >&2) || code=$?
  echo "$code" >"$reports/check.code"
  echo "::endgroup::"
fi

#!/bin/bash
# Writes the job's summary, and fails the job if WG_FAIL_ON asks for it. Called by action.yml.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
code_of() { cat "$reports/$1.code" 2>/dev/null || echo 0; }
# failures_of FILE SUITE: from a file that --junit wrote
failures_of() { sed -n "s/.*<testsuite name=\"$2\".* failures=\"\([0-9]*\)\".*/\1/p" "$reports/$1" 2>/dev/null | head -n 1 | grep . || echo 0; }

findings=$(failures_of check.xml findings)
unmet=$(failures_of run.xml expectations)
worse=$([ "$(code_of diff)" = 0 ] && echo 0 || echo 1)
# Both commands give a program's own exit code, otherwise 1 for a finding or an unmet expectation.
command=0
[ "$(code_of run)" = 0 ] || [ "$unmet" -gt 0 ] || command=$(code_of run)
[ "$(code_of check)" = 0 ] || [ "$findings" -gt 0 ] || command=$(code_of check)
[ -e "$reports/run.code" ] || [ -e "$reports/check.code" ] || command=1 # an earlier step failed

failed=()
[[ " $WG_FAIL_ON " != *" command "* ]] || [ "$command" = 0 ] || failed+=("the command failed with exit code $command")
[[ " $WG_FAIL_ON " != *" findings "* ]] || [ "$findings" = 0 ] || failed+=("$findings findings")
[[ " $WG_FAIL_ON " != *" expectations "* ]] || [ "$unmet" = 0 ] || failed+=("$unmet expectations do not hold")
[[ " $WG_FAIL_ON " != *" worse "* ]] || [ "$worse" = 0 ] || failed+=("counters are worse than at the base")

kernels=0
while IFS= read -r file; do
  kernels=$((kernels + $(warpgrind show "$file" 2>/dev/null | grep -c '^-- ')))
done < <(profiles run)
{
  echo "### warpgrind"
  echo
  echo "| what | result |"
  echo "|---|---|"
  [ ! -e "$reports/run.code" ] || echo "| kernels that ran | $kernels in $(profiles run | grep -c .) processes |"
  [ ! -e "$reports/run.code" ] || echo "| expectations that do not hold | $unmet |"
  [ ! -e "$reports/check.code" ] || echo "| findings | $findings |"
  [ ! -e "$reports/diff.code" ] || echo "| counters beside the base's | $([ "$worse" = 0 ] && echo "not worse" || echo "worse") |"
  [ "$command" = 0 ] || echo "| exit code of the command | $command |"
  echo
} >>"$GITHUB_STEP_SUMMARY"
text_block "Findings" "$reports/check.txt"
text_block "Kernels and their counters" "$reports/run.txt"
text_block "Changes since the base" "$reports/diff.txt"
{
  echo "findings=$findings"
  echo "reports=$reports"
} >>"$GITHUB_OUTPUT"
for reason in "${failed[@]}"; do echo "::error::warpgrind: $reason"; done
[ ${#failed[@]} -eq 0 ]

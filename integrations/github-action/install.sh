#!/bin/bash
# Installs the archive WG_ARCHIVE for this job. Called by action.yml.
set -euo pipefail
if [ -z "${WG_ARCHIVE:-}" ]; then
  command -v warpgrind >/dev/null || { echo "::error::warpgrind is not installed: set 'archive' to its file or address"; exit 1; }
else
  here=$(dirname "${BASH_SOURCE[0]}")
  "$here/../../scripts/install.sh" --prefix "$RUNNER_TEMP/warpgrind-installed" --from "$WG_ARCHIVE"
  echo "$RUNNER_TEMP/warpgrind-installed/bin" >>"$GITHUB_PATH"
  PATH=$RUNNER_TEMP/warpgrind-installed/bin:$PATH
fi
warpgrind --version

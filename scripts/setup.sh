#!/bin/sh
# Installs the packages for the build from Debian (12 or later) or Ubuntu, if they are missing.
#   scripts/setup.sh            packages for `make run` and `make test`
#   CI=1 scripts/setup.sh       also clang-format, clang-tidy, sanitizers, fuzz targets, Chromium, and tested clients (docs/clients.md)
#   PACKAGE=1 scripts/setup.sh  also what the archive of `make package` is made with
#   BENCH=1 scripts/setup.sh    also the simulators that `make bench` compares with
# Works as root or through sudo. The CUDA toolkit is not installed: without it, programs are compiled by clang-19.
set -eu

packages="llvm-19-dev clang-19 libfmt-dev libcli11-dev nlohmann-json3-dev libzstd-dev liblz4-dev libxxhash-dev libopenblas-serial-dev libfftw3-dev libboost-dev libomp-19-dev
  ninja-build ccache pkg-config cmake g++ libgtest-dev libpng-dev libopenmpi-dev openmpi-bin iproute2 python3 rocm-device-libs
  libzydis-dev libseccomp-dev bubblewrap libedit-dev libsqlite3-dev libhiredis-dev libthrust-dev libcub-dev libcu++-dev"  # headers for CUDA programs, 13 MB
# The page of `--report` is bundled by node when warpgrind is built; any recent version works.
command -v node >/dev/null && command -v npm >/dev/null || packages="$packages nodejs npm"
[ -n "${CI:-}" ] && packages="$packages clang-format-14 clang-tidy-19 libclang-rt-19-dev gdb chromium redis-server fonts-dejavu-core hashcat python3-numba
  python3-pytest python3-pytest-xdist python3-nbclient python3-ipykernel python3-pandas python3-pip python3-setuptools python3-wheel python3-yaml patchelf"
[ -n "${PACKAGE:-}" ] && packages="$packages patchelf zlib1g-dev libncurses-dev xz-utils"
[ -n "${BENCH:-}" ] && packages="$packages ocl-icd-opencl-dev pocl-opencl-icd oclgrind libgomp1"

missing=""
if command -v dpkg-query >/dev/null; then
  for package in $packages; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
  done
else
  echo "setup: not a Debian system: please install what these packages hold: $packages" >&2
  exit 0
fi
[ -z "$missing" ] && exit 0

echo "setup: installing$missing"
as_root=""
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: run this once as root: apt-get install$missing" >&2; exit 1; }
  as_root="sudo"
fi
log=$(mktemp)
# shellcheck disable=SC2086  # a list of words on purpose
if $as_root apt-get update -q >"$log" 2>&1 &&
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing >>"$log" 2>&1; then
  rm -f "$log"
else
  cat "$log" >&2
  echo "setup: apt-get failed: the messages are above, and in $log" >&2
  exit 1
fi

#!/bin/bash
# without_toolkit.sh COMMAND...: runs a command with NVIDIA's toolkit hidden, as on a fresh Debian. It runs in its own mount
# namespace, with an empty folder in each place of the toolkit. Needs the right to mount (root, or user namespaces). If that is
# refused: exit code 77 and the reason.
set -u
if [ "${WITHOUT_TOOLKIT_INSIDE:-}" != 1 ]; then
  for options in "-m" "-rm"; do
    unshare $options mount --bind /tmp /tmp 2>/dev/null &&
      WITHOUT_TOOLKIT_INSIDE=1 exec unshare $options "$0" "$@"
  done
  echo "skipped: this system does not let us mount (unshare -m)"
  exit 77
fi
unset WITHOUT_TOOLKIT_INSIDE

shopt -s nullglob
empty=$(mktemp -d)
: >"$empty.file"
for place in $(readlink -f /usr/local/cuda* /opt/cuda* /opt/nvidia /usr/lib/nvidia-cuda-toolkit /usr/lib/cuda "${CUDA_HOME:-/nonexistent}" | sort -u); do
  [ -d "$place" ] && { mount --bind "$empty" "$place" || exit 1; }
done
for file in $(type -aP nvcc) /usr/include/cuda_runtime.h /usr/lib/x86_64-linux-gnu/libcudart.so*; do
  [ -f "$file" ] && { mount --bind "$empty.file" "$(readlink -f "$file")" || exit 1; }
done
PATH=$(echo "$PATH" | tr : '\n' | grep -v -i -E 'cuda|nvidia' | paste -sd :)
export PATH
unset CUDA_HOME CUDA_PATH LIBRARY_PATH CPATH LD_LIBRARY_PATH
for nvcc in $(type -aP nvcc); do  # bash also names files that cannot be executed
  [ -x "$nvcc" ] && { echo "nvcc is still there: $nvcc"; exit 1; }
done
"$@"
code=$?
rm -rf "$empty" "$empty.file"
exit $code

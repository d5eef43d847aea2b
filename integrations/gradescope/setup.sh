#!/bin/sh
# Gradescope runs this once, as root, when it builds the image. The package lies beside it in the uploaded zip file.
set -e
here=$(dirname "$(readlink -f "$0")")
apt-get update
apt-get install -y --no-install-recommends bubblewrap "$here"/warpgrind_*.deb

#!/usr/bin/env bash
# operator_image.sh: makes the image of the operator that deploy/install.yaml names, from any build. Prints the path of its archive.
#
#   operator_image.sh BINARY
#
# The archive is beside the binary, and is made again when the binary is newer. `make image` makes the one that is shipped.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
binary=$(realpath "$1")
out=$binary.image
if [ ! "$out/complete" -nt "$binary" ]; then
  exec {lock}>"$out.lock"
  flock "$lock"
  if [ ! "$out/complete" -nt "$binary" ]; then
    "$here/../../deploy/image/build.sh" --binary "$binary" --out "$out" >&2
    touch "$out/complete"
  fi
fi
echo "$out"/*.tar

#!/usr/bin/env bash
# assets.sh: prints the directory of the nodes' programs and that of the store of images, on a line each.
#
#   assets.sh [IMAGE...]
#
# Exit status: 0 if all are built, these images included, otherwise 1, with one line on stderr that names the remedy.
set -euo pipefail
source "$(dirname "$0")/versions.sh"
[ -x "$built/complete" ] || { echo "nodes: no programs (\`tests/nodes/build.sh\` builds them)" >&2; exit 1; }
for image in "$@"; do
  [ -x "$images/$image.complete" ] ||
    { echo "nodes: no image $image (\`tests/nodes/images/build.sh $image\` builds it)" >&2; exit 1; }
done
printf '%s\n' "$built" "$images"

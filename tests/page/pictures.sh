#!/usr/bin/env bash
# pictures.sh PROGRAM: makes the pictures of docs/fleet-page.md again; PROGRAM is kubectl-tpu.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export TPUSLICE_PAGE_PACKAGES TPUSLICE_PLUGIN=$1
TPUSLICE_PAGE_PACKAGES=$("$here/assets.sh")
images=$here/../../docs/images
"$here/../support/deps.sh" pngquant
node --disable-warning=MODULE_TYPELESS_PACKAGE_JSON "$here/pictures.mjs" "$images"
pngquant --force --ext .png --strip 64 "$images"/fleet-page-*.png

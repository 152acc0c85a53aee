#!/usr/bin/env bash
# assets.sh: prints the directory with Kueue's program, CustomResourceDefinitions and webhook configurations.
#
# Exit status: 0 if Kueue is built, otherwise 1, with one line on stderr that names the remedy.
set -euo pipefail
source "$(dirname "$0")/versions.sh"

if [ ! -x "$built/kueue" ]; then
  echo "Kueue $kueue is missing (\`make controlplane\` builds it)" >&2
  exit 1
fi
echo "$built"

#!/usr/bin/env bash
# assets.sh: prints the directory with the program and the manifests of the earlier version of the operator.
#
# Exit status: 0 if it is built, otherwise 1, with one line on stderr that names the remedy.
set -euo pipefail
source "$(dirname "$0")/versions.sh"

if [ ! -x "$built/tpu-slice-operator" ]; then
  echo "operator ${earlier:0:12} is missing (\`make controlplane\` builds it)" >&2
  exit 1
fi
echo "$built"

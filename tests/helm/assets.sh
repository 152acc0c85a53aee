#!/usr/bin/env bash
# assets.sh: prints the path of the program `helm`.
#
# Exit status: 0 if Helm is built, otherwise 1, with one line on stderr that names the remedy.
set -euo pipefail
source "$(dirname "$0")/versions.sh"

if [ ! -x "$built/helm" ]; then
  echo "Helm $helm is missing (\`make controlplane\` builds it)" >&2
  exit 1
fi
echo "$built/helm"

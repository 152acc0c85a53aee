#!/usr/bin/env bash
# assets.sh: prints a line "PROGRAM=path" for each installed program of the control plane, or of the arguments.
#
# Exit status: 0 if all are installed, otherwise 1, with one line on stderr that names the missing ones and the remedy.
set -euo pipefail
source "$(dirname "$0")/versions.sh"
[ $# -eq 0 ] || programs=("$@")

missing=()
for program in "${programs[@]}"; do
  if path=$(locate "$program"); then echo "$program=$path"; else missing+=("$program"); fi
done
[ ${#missing[@]} -eq 0 ] && exit 0
echo "control plane: missing ${missing[*]} (\`make controlplane\` builds them)" >&2
exit 1

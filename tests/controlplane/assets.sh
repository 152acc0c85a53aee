#!/usr/bin/env bash
# assets.sh: prints "PROGRAM=path", a line for each program of the control plane that is there.
#
# Exit status 0 when none is missing; otherwise 1, and one line on stderr says which and what to do about it.
set -euo pipefail
source "$(dirname "$0")/versions.sh"

missing=()
for program in "${programs[@]}"; do
  if path=$(locate "$program"); then echo "$program=$path"; else missing+=("$program"); fi
done
[ ${#missing[@]} -eq 0 ] && exit 0
echo "control plane: missing ${missing[*]} (\`make controlplane\` builds them)" >&2
exit 1

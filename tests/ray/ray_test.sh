#!/usr/bin/env bash
# ray_test.sh TEST CONTROLPLANE OPERATOR: runs TEST.py with Ray from PyPI, in namespaces without any other network.
# Exit status 77: skipped, because Ray or the control plane cannot be installed, or this user may not create namespaces.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
test=$1
shift
skip() { echo "skipped: $*" >&2; exit 77; }
"$here/../controlplane/assets.sh" >/dev/null || skip "the programs of the control plane are missing"
environment=$("$here/install.sh") || skip "Ray is not installed"
unshare --net --mount --pid --fork true 2>/dev/null || skip "this user may not create network namespaces"
command -v ip >/dev/null || skip "the program ip is missing (package iproute2)"
export PYTHONDONTWRITEBYTECODE=1
exec unshare --net --mount --pid --fork --kill-child --mount-proc python3 "$here/$test.py" "$@" "$environment"

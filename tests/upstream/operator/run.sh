#!/usr/bin/env bash
# run.sh KIND KUBECONFIG DIRECTORY: installs an operator of upstream, which build.sh has built, in a cluster, and runs it until this is killed.
#
#   KIND        jobset, lws or kuberay
#   KUBECONFIG  the administrator's
#   DIRECTORY   is created for its files and its log; it has a file `ready` once the operator serves
set -euo pipefail
upstream=$(cd "$(dirname "$0")/.." && pwd)
source "$upstream/processes.sh"
source "$upstream/start_upstream.sh"
die() { echo "run.sh: $*" >&2; exit 2; }

[ $# -eq 3 ] || die "usage: run.sh KIND KUBECONFIG DIRECTORY"
select_kind "$1"
work=$3
directory=$(source "$upstream/operator/versions.sh" && directory_of "$kind")
program=$directory/operator manifests=$directory/config/default
[ -x "$program" ] || die "$program: no such program (\`tests/upstream/operator/build.sh $kind\` builds it)"
kubectl=$(source "$upstream/../controlplane/versions.sh" && locate kubectl) || die "kubectl is missing (\`make controlplane\` builds it)"
mkdir -p "$work"
cp "$2" "$work/admin.kubeconfig"
trap stop_processes EXIT
start_upstream
touch "$work/ready"
wait

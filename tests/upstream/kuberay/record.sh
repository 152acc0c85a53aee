#!/usr/bin/env bash
# record.sh KUBERAY: writes tests/golden/kuberay/pods.json, the pods that KubeRay makes of tests/golden/kuberay/specs.yaml.
# KUBERAY is a checkout of ray-project/kuberay; needs Go. Read the difference before you commit it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
golden=$here/../../golden/kuberay
package=$1/ray-operator/hack/tpuslice-pods
mkdir -p "$package"
trap 'rm -rf "$package"' EXIT
cp "$here/main.go" "$package/"
pods=$(cd "$1/ray-operator" && go run ./hack/tpuslice-pods "$golden/specs.yaml")
printf '%s\n' "$pods" >"$golden/pods.json"

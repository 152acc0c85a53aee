#!/usr/bin/env bash
# crds.sh: prints the directory with the CustomResourceDefinitions of the Gateway API, which it downloads once as a Go module.
set -euo pipefail
cd "$(dirname "$0")"
name=gateway-api
source ../support/build_once.sh
find_go
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
"$go" mod download sigs.k8s.io/gateway-api 2>"$temporary/log" || die_of_modules
echo "$("$go" list -m -f '{{.Dir}}' sigs.k8s.io/gateway-api)/config/crd/standard"

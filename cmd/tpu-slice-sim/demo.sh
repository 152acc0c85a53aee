#!/usr/bin/env bash
# demo.sh SIMULATOR: the MaxText tutorial's RayCluster, from apply to running slice, then what kubectl sees of it.
set -euo pipefail
simulator=$1
cd "$(dirname "$0")/../.."

report() {
  show() { printf '\n$ %s\n' "$*"; "$@"; }
  show kubectl get rayclusters
  show kubectl get pods -o wide
  local worker
  for worker in $(kubectl get pods -l ray.io/node-type=worker -o name); do
    printf '\n%s on %s\n' "$worker" \
      "$(kubectl get "$worker" -o 'jsonpath={.spec.nodeName}, hostname {.spec.hostname}.{.spec.subdomain}')"
    kubectl get "$worker" -o 'jsonpath={range .spec.containers[0].env[*]}  {.name}={.value}{"\n"}{end}' |
      grep -E '^  (TPU_|MEGASCALE_|JAX_|ENABLE_PJRT)' | grep -v '=$'
  done
}
export -f report

exec "$simulator" --log-level=warn --then 'bash -c report' deploy/samples/raycluster-maxtext-v6e-4x4.yaml

#!/usr/bin/env bash
# demo.sh SIMULATOR: applies the MaxText tutorial's RayCluster, waits until its slice runs, then shows it with kubectl.
# demo.sh --report: only shows it, in the cluster of $KUBECONFIG.
set -euo pipefail

report() {
  show() { printf '\n$ %s\n' "$*"; "$@"; }
  show kubectl get rayclusters
  show kubectl get pods -o wide
  local worker
  for worker in $(kubectl get pods -l ray.io/node-type=worker -o name); do
    printf '\n%s\n' "$(kubectl get "$worker" -o \
      'jsonpath={.metadata.name} on {.spec.nodeName}, host {.spec.hostname}.{.spec.subdomain}')"
    kubectl get "$worker" -o 'jsonpath={range .spec.containers[0].env[*]}  {.name}={.value}{"\n"}{end}' |
      grep -E '^  (TPU_|MEGASCALE_|JAX_|ENABLE_PJRT).*=.'
  done
}

if [ "$1" = --report ]; then
  report
else
  simulator=$1
  cd "$(dirname "$0")/../.."
  exec "$simulator" --log-level=warn --then 'cmd/tpu-slice-sim/demo.sh --report' \
    deploy/samples/raycluster-maxtext-v6e-4x4.yaml
fi

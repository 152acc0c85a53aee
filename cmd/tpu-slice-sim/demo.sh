#!/usr/bin/env bash
# demo.sh SIMULATOR: applies the MaxText tutorial's RayCluster, waits until its slice runs, then shows it with kubectl.
# demo.sh --report: only shows it, in the cluster of $KUBECONFIG.
set -euo pipefail

report() {
  show() { printf '\n$ %s\n' "$*"; "$@"; }
  show kubectl get rayclusters
  printf '\nhosts of the slice:\n'
  kubectl get pods -l ray.io/node-type=worker -o \
    'custom-columns=HOST:.metadata.annotations.tpuslice\.dev/slice-host,POD:.metadata.name,NODE:.spec.nodeName,TPU_WORKER_ID:.spec.containers[0].env[?(@.name=="TPU_WORKER_ID")].value,READY:.status.containerStatuses[0].ready'
  printf '\nthe same on all hosts:\n'
  kubectl get pods -l ray.io/node-type=worker -o \
    'jsonpath={range .items[0].spec.containers[0].env[*]}{.name}={.value}{"\n"}{end}' |
    grep -E '^(TPU_|MEGASCALE_|JAX_|ENABLE_PJRT).*=.' | grep -v '^TPU_WORKER_ID=' | tr ',' '\n' | sed 's/^/  /'
}

if [ "$1" = --report ]; then
  report
else
  simulator=$1
  cd "$(dirname "$0")/../.."
  exec "$simulator" --then 'cmd/tpu-slice-sim/demo.sh --report' \
    deploy/samples/raycluster-maxtext-v6e-4x4.yaml
fi

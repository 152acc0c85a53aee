#!/usr/bin/env bash
# A slice that loses a host is rebuilt as a whole; all children of a deleted RayCluster are deleted.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
start_simulator "$1" deploy/samples/raycluster-maxtext-v6e-4x4.yaml
kubectl wait --for=condition=RayClusterProvisioned raycluster/maxtext-tpu-cluster --timeout=60s >/dev/null

uids() { kubectl get pods -l ray.io/node-type=worker -o 'jsonpath={range .items[*]}{.metadata.uid}{"\n"}{end}' | sort; }
before=$(uids)
# A watch records when each pod loses its gate and is deleted, to detect two live pods with one worker id.
kubectl get pods -l ray.io/node-type=worker -w --output-watch-events \
  -o 'jsonpath={.type} {.object.metadata.labels.ray\.io/replica-host-index} {.object.metadata.uid} {.object.spec.schedulingGates[*].name}{"\n"}' \
  >"$workdir/watch" &
watcher=$!
expect "one worker is deleted" 'deleted' kubectl delete pod -l ray.io/replica-host-index=1 --wait=false
eventually "four new workers run" 'maxtext-tpu-cluster +4 +4 ' bash -c \
  "[ -z \"\$(comm -12 <(echo '$before') <(kubectl get pods -l ray.io/node-type=worker -o 'jsonpath={range .items[*]}{.metadata.uid}{\"\\n\"}{end}' | sort))\" ] && kubectl get rayclusters"
kill "$watcher" && wait "$watcher" 2>/dev/null || true
awk '$1 != "DELETED" && NF == 3 { if ($2 in live && live[$2] != $3) { print "two live pods with id " $2; exit 1 } live[$2] = $3 }
     $1 == "DELETED" && live[$2] == $3 { delete live[$2] }' "$workdir/watch" || fail "the watch received $(cat "$workdir/watch")"
echo "ok: there were never two live pods with one worker id"

expect "the cluster is deleted" 'deleted' kubectl delete raycluster/maxtext-tpu-cluster
eventually "all pods are deleted" '^0$' bash -c 'kubectl get pods -o name | wc -l'
eventually "all services are deleted" '^0$' bash -c 'kubectl get services -l app.kubernetes.io/created-by=kuberay-operator -o name | wc -l'
echo "lifecycle: all checks passed"

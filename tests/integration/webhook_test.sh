#!/usr/bin/env bash
# The admission webhook, called over HTTPS by the API server.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
start_simulator "$1"
sample=deploy/samples/raycluster-maxtext-v6e-4x4.yaml

expect "a wrong numOfHosts is rejected, with the right number" \
  'spec.workerGroupSpecs\[0\].numOfHosts.*4x4.*16 chips.*4' \
  bash -c "sed 's/numOfHosts: 4/numOfHosts: 2/' $sample | kubectl apply -f -"
expect "nothing was created" 'No resources found' kubectl get rayclusters

kubectl apply -f "$sample" >/dev/null
kubectl wait --for=condition=RayClusterProvisioned raycluster/maxtext-tpu-cluster --timeout=60s >/dev/null
expect "a wrong numOfHosts is rejected on update, too" 'numOfHosts' kubectl patch raycluster/maxtext-tpu-cluster --type=json \
  -p '[{"op":"replace","path":"/spec/workerGroupSpecs/0/numOfHosts","value":3}]'

# A pod as upstream's operator creates it, without everything that we add, is mutated to the pod that our controller
# creates. This is a dry run, since our controller would delete a second pod for the same host of the cluster.
created=$(kubectl get pods -l ray.io/replica-host-index=2 -o json)
bare=$(jq '.items[0] | {apiVersion: "v1", kind: "Pod",
    metadata: {name: "by-hand", labels: (.metadata.labels | del(.["tpuslice.dev/slice"])),
               annotations: (.metadata.annotations | with_entries(select(.key | startswith("tpuslice.dev/") | not))),
               ownerReferences: .metadata.ownerReferences},
    spec: (.spec | del(.nodeName, .affinity, .hostname, .subdomain, .tolerations,
                       .nodeSelector["cloud.google.com/gke-nodepool"])
      | .containers |= map(.env |= map(select(.name | test("^TPU_") | not))))}' <<<"$created")
# The order of tolerations is ignored, since those of the API server come before the webhook's; so are the controller's hash
# for upgrades, and what the placement has added to the created pod.
essence='{labels: .metadata.labels,
  annotations: (.metadata.annotations | del(.["tpuslice.dev/slice-members"], .["tpuslice.dev/placed-at"], .["tpuslice.dev/placed-in"], .["tpuslice.dev/template-hash"])),
  spec: (.spec | del(.nodeName, .schedulingGates, .nodeSelector["cloud.google.com/gke-nodepool"], .affinity.nodeAffinity) | .tolerations |= sort)}'
diff <(jq -S ".items[0] | $essence" <<<"$created") \
     <(kubectl create --dry-run=server -o json -f - <<<"$bare" | jq -S "$essence") ||
  fail "the mutated pod differs from the one our controller created"
echo "ok: a pod with upstream's labels is mutated to the pod that our controller creates"

jq 'del(.metadata.ownerReferences) | .metadata.labels["ray.io/cluster"] = "other"' <<<"$bare" | kubectl create -f - >/dev/null
expect "a pod of another operator's cluster gets its identity" '^2 tpu-group-0-2 other-headless$' kubectl get pod by-hand -o \
  'jsonpath={.spec.containers[0].env[?(@.name=="TPU_WORKER_ID")].value} {.spec.hostname} {.spec.subdomain}'
expect "a pod without TPUs is not changed" '^$' bash -c \
  'kubectl run plain --image=example >/dev/null && kubectl get pod plain -o "jsonpath={.spec.affinity}{.spec.hostname}"'
echo "webhook: all checks passed"

#!/usr/bin/env bash
# The admission webhook, called over HTTPS by the API server.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
start_simulator "$1"
sample=deploy/samples/raycluster-maxtext-v6e-4x4.yaml

expect "a wrong numOfHosts is refused with the right number" \
  'spec.workerGroupSpecs\[0\].numOfHosts.*4x4.*16 chips.*4' \
  bash -c "sed 's/numOfHosts: 4/numOfHosts: 2/' $sample | kubectl apply -f -"
expect "nothing was created" 'No resources found' kubectl get rayclusters

kubectl apply -f "$sample" >/dev/null
kubectl wait --for=condition=RayClusterProvisioned raycluster/maxtext-tpu-cluster --timeout=60s >/dev/null
expect "a wrong numOfHosts is refused on update too" 'numOfHosts' kubectl patch raycluster/maxtext-tpu-cluster --type=json \
  -p '[{"op":"replace","path":"/spec/workerGroupSpecs/0/numOfHosts","value":3}]'

# A pod as upstream's operator creates it, with everything of ours taken out, becomes what our controller created. As a
# dry run: our controller would rightly delete a second pod for the same host of its cluster.
born=$(kubectl get pods -l ray.io/replica-host-index=2 -o json)
bare=$(jq '.items[0] | {apiVersion: "v1", kind: "Pod",
    metadata: {name: "by-hand", labels: (.metadata.labels | del(.["tpuslice.dev/slice"])),
               annotations: (.metadata.annotations | with_entries(select(.key | startswith("tpuslice.dev/") | not))),
               ownerReferences: .metadata.ownerReferences},
    spec: (.spec | del(.nodeName, .affinity, .hostname, .subdomain, .tolerations,
                       .nodeSelector["cloud.google.com/gke-nodepool"])
      | .containers |= map(.env |= map(select(.name | test("^TPU_") | not))))}' <<<"$born")
# Tolerations are a set; the API server's own come before those of a webhook. The other has been placed since it was born.
essence='{labels: .metadata.labels,
  annotations: (.metadata.annotations | del(.["tpuslice.dev/slice-members"], .["tpuslice.dev/placed-at"], .["tpuslice.dev/placed-in"])),
  spec: (.spec | del(.nodeName, .schedulingGates, .nodeSelector["cloud.google.com/gke-nodepool"], .affinity.nodeAffinity) | .tolerations |= sort)}'
diff <(jq -S ".items[0] | $essence" <<<"$born") \
     <(kubectl create --dry-run=server -o json -f - <<<"$bare" | jq -S "$essence") ||
  fail "the pod applied by hand differs from the one our controller created"
echo "ok: a pod with upstream's labels becomes the pod our controller creates"

jq 'del(.metadata.ownerReferences) | .metadata.labels["ray.io/cluster"] = "other"' <<<"$bare" | kubectl create -f - >/dev/null
expect "a pod of somebody else's cluster gets its identity" '^2 tpu-group-0-2 other-headless$' kubectl get pod by-hand -o \
  'jsonpath={.spec.containers[0].env[?(@.name=="TPU_WORKER_ID")].value} {.spec.hostname} {.spec.subdomain}'
expect "a pod without TPU is left alone" '^$' bash -c \
  'kubectl run plain --image=example >/dev/null && kubectl get pod plain -o "jsonpath={.spec.affinity}{.spec.hostname}"'
echo "webhook: all as expected"

#!/usr/bin/env bash
# The kubectl commands that users of RayClusters need.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
start_simulator "$1"
sample=deploy/samples/raycluster-maxtext-v6e-4x4.yaml
cluster=raycluster/maxtext-tpu-cluster

expect "version" 'Server Version: v1\.' kubectl version
expect "api-resources lists the kind" '^rayclusters .*ray.io/v1 +true +RayCluster' kubectl api-resources
expect "explain describes the fields" 'numOfHosts' kubectl explain raycluster.spec.workerGroupSpecs
expect "nodes have the label of their pool" 'v6e-4x4-a-0 +Ready .*v6e-4x4-a' kubectl get nodes -L cloud.google.com/gke-nodepool

expect "apply creates" 'raycluster.ray.io/maxtext-tpu-cluster created' kubectl apply -f "$sample"
expect "wait sees the condition" 'condition met' kubectl wait --for=condition=RayClusterProvisioned "$cluster" --timeout=60s
eventually "get prints the line of the tutorial" 'maxtext-tpu-cluster +4 +4 +40 +798027216Ki +0 +ready' kubectl get rayclusters
# kubectl prints "configured", since defaults were added inside a list; the object does not change.
version() { kubectl get "$cluster" -o 'jsonpath={.metadata.resourceVersion}'; }
before=$(version)
kubectl apply -f "$sample" >/dev/null
expect "apply again changes nothing" "^$before\$" version
expect "server-side apply" 'serverside-applied' kubectl apply --server-side --force-conflicts -f "$sample"
expect "get -o yaml" 'desiredMemory: 798027216Ki' kubectl get "$cluster" -o yaml
expect "get -o wide adds the priority columns" 'TPUS' kubectl get rayclusters -o wide
expect "get -o wide says whether slices wait" 'SlicesPlaced +all pods exist, and no slice waits' kubectl get rayclusters -o wide
expect "describe shows events" 'CreatedWorkerPod' kubectl describe "$cluster"
expect "describe a pod" 'TPU_WORKER_ID: +0' kubectl describe pod -l ray.io/replica-host-index=0
expect "pods by label" '^4$' bash -c 'kubectl get pods -l ray.io/node-type=worker -o name | wc -l'
expect "pods in a table" 'Running' kubectl get pods -o wide
expect "jsonpath" '^3$' kubectl get pods -l ray.io/replica-host-index=3 \
  -o 'jsonpath={.items[0].spec.containers[0].env[?(@.name=="TPU_WORKER_ID")].value}'
expect "a watch streams" 'maxtext-tpu-cluster' timeout 3 kubectl get rayclusters -w
expect "label" 'labeled' kubectl label "$cluster" team=training
expect "annotate" 'annotated' kubectl annotate "$cluster" note=hello

expect "patch scales the group up" 'patched' kubectl patch "$cluster" --type=json \
  -p '[{"op":"replace","path":"/spec/workerGroupSpecs/0/replicas","value":2}]'
eventually "the second slice runs" 'maxtext-tpu-cluster +8 +8 ' kubectl get rayclusters
expect "the two slices are on two node pools" '^2$' bash -c \
  'kubectl get pods -l ray.io/node-type=worker -o jsonpath="{range .items[*]}{.spec.nodeName}{\"\n\"}{end}" | sed "s/-[0-9]*$//" | sort -u | wc -l'
expect "edit scales the group down" 'edited' env EDITOR="sed -i 's/replicas: 2/replicas: 1/'" kubectl edit "$cluster"
eventually "one slice again" '^4$' bash -c 'kubectl get pods -l ray.io/node-type=worker -o name | wc -l'

expect "a stateful set is created" 'created' kubectl apply -f - <<'Y'
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  serviceName: web
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example}]}
Y
expect "scale" 'scaled' kubectl scale statefulset/web --replicas=3
expect "scale is stored" '^3$' kubectl get statefulset/web -o 'jsonpath={.spec.replicas}'

service() {
  printf 'apiVersion: v1\nkind: Service\nmetadata: {name: moved}\nspec: {selector: {a: b}, ports: [{name: p, port: %s}]}\n' "$1"
}
service 80 | kubectl apply -f - >/dev/null
service 80 | kubectl apply --server-side -f - >/dev/null
expect "a built-in object is migrated from client-side to server-side apply" 'serverside-applied' \
  kubectl apply --server-side -f <(service 81)
expect "the migrated object keeps its fields" '^81 b$' kubectl get service moved -o 'jsonpath={.spec.ports[0].port} {.spec.selector.a}'

list() { # list LABEL [FIELD]: two objects in one of kind List
  cat <<Y
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: listed, labels: {a: $1}}${2:-}}
  - apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    metadata: {name: listed, labels: {a: $1}}
    spec:
      suspend: true
      replicatedJobs:
        - name: w
          template: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: example}]}}}}
Y
}
expect "a list is applied" '^configmap/listed created jobset.jobset.x-k8s.io/listed created$' \
  bash -c 'kubectl apply -f - | paste -sd " "' < <(list one)
expect "a list is applied again" '^configmap/listed configured jobset.jobset.x-k8s.io/listed configured$' \
  bash -c 'kubectl apply -f - | paste -sd " "' < <(list two)
expect "a list is applied on the server's side" 'jobset.jobset.x-k8s.io/listed serverside-applied' \
  kubectl apply --server-side --force-conflicts -f - < <(list three)
expect "the items are stored" '^three three$' kubectl get configmap/listed jobset/listed -o 'jsonpath={.items[*].metadata.labels.a}'
expect "an unknown field of an item is refused" 'unknown field "date"' kubectl apply -f - < <(list three ', date: {}')
expect "a list is deleted" 'jobset.x-k8s.io "listed" deleted' kubectl delete -f - < <(list three)

expect "delete waits until the object is removed" 'deleted' kubectl delete "$cluster" --timeout=60s
eventually "its pods are deleted" 'No resources found' kubectl get pods -l ray.io/cluster=maxtext-tpu-cluster
eventually "its services are deleted" 'No resources found' kubectl get services -l ray.io/cluster=maxtext-tpu-cluster
echo "kubectl: all checks passed"

#!/usr/bin/env bash
# The operator as a separate process: killed at any time and restarted, it reaches the same state as without; when stopped,
# another replica takes over at once.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
operator=$2
start_simulator "$1" --no-operator --operator-kubeconfig "${operator_kubeconfig:=$(mktemp -u)}"
cleanup=$(trap -p EXIT | sed "s/^trap -- '//; s/' EXIT$//")
operators=()
trap 'kill -9 "${operators[@]}" 2>/dev/null; rm -f "$operator_kubeconfig"; '"$cleanup" EXIT

config=$workdir/operator.yaml
header=$'apiVersion: config.tpuslice.dev/v1alpha1\nkind: OperatorConfiguration\n'
printf '%s' "$header" >"$config"
echo 'rayCluster: {headSidecarContainers: [{name: logs}], probes: false}' >>"$config"
expect "a wrong configuration file is refused with all its errors" \
  'headSidecarContainers\[0\].image: Required value; rayCluster.probes: Forbidden: no such setting' \
  "$operator" --kubeconfig "$operator_kubeconfig" --config "$config"
printf '%s' "$header" >"$config"
echo 'rayCluster: {headSidecarContainers: [{name: logs, image: fluent-bit}], defaultPodLabels: {cost-center: ml}}' >>"$config"

# start_operator [options]: starts an operator; its process id is in $last, its log in $workdir/operator.
start_operator() {
  "$operator" --config "$config" --kubeconfig "$operator_kubeconfig" --webhook-bind-address=0 --metrics-bind-address=127.0.0.1:0 --metrics-secure=false \
    --health-probe-bind-address=127.0.0.1:0 "$@" 2>"$workdir/operator" &
  last=$!
  operators+=("$last")
}
port_of() { sed -n "s/.*\"for\":\"$1\",\"port\":\([0-9]*\).*/\1/p" "$workdir/operator"; }
# No webhook is served here: the operator creates all pods of this test itself.
kubectl apply -f deploy/samples/raycluster-maxtext-v6e-4x4.yaml >/dev/null

for pause in 0.01 0.03 0.05 0.07 0.09 0.11 0.13 0.15 0.2 0.3; do
  start_operator
  read -rt "$pause" <> <(:) || true
  kill -9 "$last"
  wait "$last" 2>/dev/null || true
done
start_operator
eventually "the slice becomes ready although the operator was killed ten times" 'maxtext-tpu-cluster +4 +4 +40 +798027216Ki +0 +ready' \
  kubectl get rayclusters
expect "no pod is duplicated" '^5$' bash -c 'kubectl get pods -o name | wc -l'
expect "all pods have what the configuration file adds" '^5$' bash -c 'kubectl get pods -l cost-center=ml -o name | wc -l'
expect "the head has the sidecar" 'ray-head logs' kubectl get pods -l ray.io/node-type=head -o 'jsonpath={.items[0].spec.containers[*].name}'
expect "no service is duplicated" '^2$' bash -c 'kubectl get services -l ray.io/cluster=maxtext-tpu-cluster -o name | wc -l'

eventually "healthz answers ok" '^ok$' curl -s "http://127.0.0.1:$(port_of health)/healthz"
eventually "readyz answers ok" '^ok$' curl -s "http://127.0.0.1:$(port_of health)/readyz"
eventually "metrics count requests" 'rest_client_requests_total\{.*code="20' curl -s "http://127.0.0.1:$(port_of metrics)/metrics"
kill -USR1 "$last"
eventually "a signal prints the stacks of a running operator" '^thread [0-9]+ "tpu-slice-opera":$' cat "$workdir/operator"
expect "metrics name the build" "tpuslice_build_info\{build_id=\"[0-9a-f]{16,}\",version=\"$("$operator" --version)\"\} 1" \
  curl -s "http://127.0.0.1:$(port_of metrics)/metrics"
begun=$(date +%s%N)
kill -TERM "$last"
wait "$last" || fail "the operator did not exit with 0: $(tail -n 3 "$workdir/operator")"
echo "ok: stopped in $((($(date +%s%N) - begun) / 1000000)) ms"

start_operator
eventually "it runs again" 'controller started' cat "$workdir/operator"
kill -SEGV "$last"
code=0
wait "$last" 2>/dev/null || code=$?
[ "$code" = 139 ] || fail "a crash exits with $code, not with 139 (SIGSEGV)"
expect "a crash prints the signal" '^fatal: SIGSEGV at address 0x' cat "$workdir/operator"
expect "a crash prints the build id" "^build id [0-9a-f]{16,}$" cat "$workdir/operator"
expect "a crash prints the stacks of many threads" '^[1-9][0-9]+$' grep -c '^thread [0-9]* "' "$workdir/operator"

start_operator --leader-elect --leader-election-namespace=default
first=$last
eventually "one replica leads" '_' kubectl get lease tpu-slice-operator -o 'jsonpath={.spec.holderIdentity}'
holder=$(kubectl get lease tpu-slice-operator -o 'jsonpath={.spec.holderIdentity}')
start_operator --leader-elect --leader-election-namespace=default
kill -TERM "$first"
wait "$first" || fail "the leader did not exit with 0"
eventually "the other replica takes over" '^ok$' bash -c \
  "now=\$(kubectl get lease tpu-slice-operator -o 'jsonpath={.spec.holderIdentity}'); [ -n \"\$now\" ] && [ \"\$now\" != '$holder' ] && echo ok"
kubectl delete pod -l ray.io/replica-host-index=2 --wait=false >/dev/null
eventually "the new leader repairs the slice" 'DeletedWorkerPod|SliceTornDown' kubectl get events
echo "operator: all checks passed"

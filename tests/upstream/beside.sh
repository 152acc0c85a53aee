#!/usr/bin/env bash
# beside.sh KIND [PROGRAM MANIFESTS]: runs upstream's operator, and ours beside it, on a real control plane.
#
#   KIND       jobset, lws or kuberay
#   PROGRAM    upstream's operator, as in its image; default: operator/build.sh builds it
#   MANIFESTS  upstream's manifests: a file, or a folder with a kustomization (config/default)
#
#   OVERLAY       a folder of deploy/overlays; default: beside-KIND
#   SAMPLE        a file of deploy/samples; default: one of the kind
#   OPERATOR      our program; default: build/dev/bin/tpu-slice-operator
#   CONTROLPLANE  default: build/dev/bin/tpu-slice-controlplane
#   WHOLE=1       all node pools are whole; default: the first of each accelerator has a cordoned node
#   KEEP=1        keep the directory with all logs, as after a failure
#
# Needs jq, openssl, curl, and the programs of `make controlplane`. Both operators are processes with the permissions of their
# ServiceAccounts. Prints a line for each check; the last line is "N passed, N failed". docs/upstream-suites.md lists the versions that were run.
set -euo pipefail
folder=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$folder/../.." && pwd)
source "$folder/processes.sh"
source "$folder/start_upstream.sh"
die() { echo "beside.sh: $*" >&2; exit 2; }

[ $# -eq 1 ] || [ $# -eq 3 ] || die "usage: beside.sh KIND [PROGRAM MANIFESTS]"
select_kind "$1"
if [ $# -eq 3 ]; then
  program=$(realpath "$2") manifests=$(realpath "$3")
else
  "$folder/operator/build.sh" "$kind"
  directory=$(source "$folder/operator/versions.sh" && directory_of "$kind")
  program=$directory/operator manifests=$directory/config/default
fi
sample=$(basename "${SAMPLE:-$sample}" .yaml)
overlay=$root/deploy/overlays/${OVERLAY:-beside-$kind}
operator=$(realpath "${OPERATOR:-$root/build/dev/bin/tpu-slice-operator}")
controlplane=$(realpath "${CONTROLPLANE:-$root/build/dev/bin/tpu-slice-controlplane}")
for file in "$program" "$operator" "$controlplane"; do [ -x "$file" ] || die "$file: no such program"; done
[ -d "$overlay" ] || die "$overlay: no such overlay"
kubectl=$(source "$root/tests/controlplane/versions.sh" && locate kubectl) || die "kubectl is missing (\`make controlplane\` builds it)"
# A row of the table of samples: name, kind, TPU, topology, "slices × hosts × chips".
shape=$(awk -F'|' -v name="[$sample]" 'index($2, name) { print $6 }' "$root/deploy/samples/README.md")
[ -n "$shape" ] || die "$sample is not in deploy/samples/README.md"
read -r slices _ hosts _ <<<"$shape"

work=$(mktemp -d -t "beside-$kind.XXXXXX")
passed=0 failed=0 complete=no
finish() {
  stop_processes
  if [ "$complete-$failed-${KEEP:-}" = yes-0- ]; then rm -rf "$work"; else echo "logs: $work" >&2; fi
}
trap finish EXIT
trap 'exit 130' INT TERM

# check NAME PROBLEMS: passes if there are none.
check() {
  if [ -z "$2" ]; then
    passed=$((passed + 1))
    echo "ok    $1"
  else
    failed=$((failed + 1))
    echo "FAIL  $1"
    head -n 20 <<<"$2" | cut -c1-400 | sed 's/^/      /'
  fi
}

# problems_of COMMAND...: what it prints, or that it failed.
problems_of() { "$@" || echo "$1 failed"; }

# problems_after SECONDS COMMAND...: runs COMMAND until it finds no problems, at most so long.
problems_after() {
  local until=$((SECONDS + $1)) last
  shift
  while last=$(problems_of "$@"); [ -n "$last" ] && [ "$SECONDS" -lt "$until" ]; do sleep 1; done
  echo "$last"
}

# in_team: kubectl in the namespace of the sample.
in_team() { kube --namespace=team "$@"; }

start_controlplane() {
  cat >"$work/audit.yaml" <<'YAML'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - {level: Metadata, userGroups: ["system:serviceaccounts"]}
  - level: None
YAML
  {
    echo "pools:"
    local entry accelerator topology pool
    for entry in tpu-v4-podslice:2x2x4 tpu-v5-lite-podslice:4x8 tpu-v5p-slice:2x2x4 tpu-v6e-slice:4x4 tpu-v6e-slice:2x4 tpu7x:2x2x2; do
      IFS=: read -r accelerator topology <<<"$entry"
      for pool in a b c; do echo "  - {name: $accelerator-$topology-$pool, accelerator: $accelerator, topology: $topology}"; done
    done
    echo '  - {name: cpu, hosts: 3, cpu: "64", memory: 256Gi}'
  } >"$work/pools.yaml"
  : >"$work/controlplane.log"
  "$controlplane" --dir "$work/plane" --pools "$work/pools.yaml" --kubeconfig-out "$work/admin.kubeconfig" \
    --apiserver-flag="--audit-policy-file=$work/audit.yaml" --apiserver-flag="--audit-log-path=$work/audit.log" \
    >"$work/controlplane.log" 2>&1 &
  processes+=($!)
  wait_until $! "$work/controlplane.log" grep -q '^ready:' "$work/controlplane.log" || die "the control plane does not start"
  sed 's/; export.*//' "$work/controlplane.log"
  [ -z "${WHOLE:-}" ] || return 0
  mapfile -t nodes < <(kube get nodes -o name | grep -- '-a-1$')
  kube cordon "${nodes[@]}" >/dev/null
}

start_operator() {
  kube apply --server-side -k "$overlay" >"$work/operator-apply.log"
  account_kubeconfig tpu-slice-system tpu-slice-operator "$work/operator.kubeconfig"
  local webhook health
  webhook=$(free_port) health=$(free_port)
  redirect_webhooks tpu-slice-system "$webhook"
  mapfile -t arguments < <(kube --namespace=tpu-slice-system get deployment tpu-slice-operator -o json |
    jq -r '.spec.template.spec.containers[0].args[]' | grep -v -e '-bind-address=')
  "$operator" "${arguments[@]}" "--kubeconfig=$work/operator.kubeconfig" "--webhook-bind-address=127.0.0.1:$webhook" \
    "--health-probe-bind-address=127.0.0.1:$health" "--metrics-bind-address=127.0.0.1:$(free_port)" --shutdown-delay=0 \
    >"$work/operator.log" 2>&1 &
  processes+=($!)
  wait_ready $! "$health" "$work/operator.log"
}

of_group='.items[] | select(.spec.group == $group)'
crds() { kube get crds -o json | jq -r --arg group "$group" "$of_group"' | "\(.metadata.name) \(.metadata.resourceVersion)"'; }
unestablished() {
  kube get crds -o json | jq -r --arg group "$group" \
    "$of_group"' | select(any(.status.conditions[]?; .type == "Established" and .status == "True") | not) | .metadata.name'
}
objects() {
  in_team get --show-managed-fields -o json \
    "$resource.$group,jobs.batch,statefulsets.apps,controllerrevisions.apps,services,pods"
}

# pod_problems [UIDS]: what is wrong with the pods, one line each. Pods with these uids should be gone.
pod_problems() {
  in_team get pods -o json | jq -r --argjson slices "$slices" --argjson hosts "$hosts" --arg gone "${1:-}" '
    def pool: .spec.nodeName // "" | sub("-[0-9]+$"; "");
    def slice: .metadata.labels["tpuslice.dev/slice"] // "none";
    def variable($name):
      [.spec.containers[] | select(.resources.limits["google.com/tpu"]) | .env[]? | select(.name == $name) | .value][0] // "";
    def problem(condition; text): if condition then text else empty end;
    (.items[] | "pod \(.metadata.name)" as $pod |
      problem(.status.phase != "Running" or .metadata.deletionTimestamp;
              "\($pod) is \(.status.phase): \(.metadata.annotations["tpuslice.dev/waiting"] // "without waiting reason")"),
      problem(.metadata.uid | IN($gone | splits(" ")); "\($pod) is of the slice that lost a host"),
      problem(slice != "none" and (variable("TPU_WORKER_HOSTNAMES") | split(",") | length) != $hosts;
              "\($pod) has TPU_WORKER_HOSTNAMES \(variable("TPU_WORKER_HOSTNAMES"))")),
    ([.items[] | select(slice != "none")] | group_by(slice) |
      problem(length != $slices; "\(length) slices, not \($slices)"),
      problem([.[][] | pool] | unique | length != $slices; "slices share node pools"),
      (.[] | "slice \(.[0] | slice)" as $slice |
        problem(length != $hosts; "\($slice) has \(length) pods, not \($hosts)"),
        problem([.[].spec.nodeName] | unique | length != $hosts; "\($slice) is on other than \($hosts) nodes"),
        problem([.[] | pool] | unique | length != 1; "\($slice) is in several node pools"),
        problem(all(.[]; .metadata.annotations["tpuslice.dev/placed-in"] != pool); "\($slice) was not placed by the placement controller"),
        problem([.[] | variable("TPU_WORKER_ID")] | sort != ([range($hosts) | tostring] | sort); "\($slice) has other worker ids")))'
}

# Objects that do not belong to the workload of the sample.
foreign_objects() {
  objects | jq -r --arg resource "$resource" '
    (.items | map({key: .metadata.uid, value: .}) | from_entries) as $objects |
    def root: [.metadata.ownerReferences[]? | select(.controller)][0].uid as $owner |
      if $owner == null then . else $objects[$owner] // {kind: "unknown object"} | root end;
    .items[] | select(any(.metadata.managedFields[]; .manager == "sample") | not) | root.kind as $root |
    select(($root | ascii_downcase) + "s" != $resource) | "\(.kind) \(.metadata.name) belongs to: \($root)"'
}

# requests FILTER: prints the audited requests of both operators to which the jq filter applies, and how often they were sent.
requests() {
  jq -r --arg upstream "system:serviceaccount:$upstream_namespace:$upstream_account" \
    --arg ours system:serviceaccount:tpu-slice-system:tpu-slice-operator '
    def user: if .user.username == $upstream then "upstream" elif .user.username == $ours then "ours" else "other" end;
    def write: .verb | IN("get", "list", "watch") | not;
    def on($namespace): .objectRef.namespace == $namespace;
    select(user != "other" and ('"$1"')) |
    "\(user): \(.verb) \(.objectRef.resource) \(.objectRef.subresource // "") \(.objectRef.name // ""): \(.responseStatus.code)"' \
    "$work/audit.log" | sort | uniq -c
}

changes_within_10s() {
  local filter='.items[] | "\(.kind) \(.metadata.name) \(.metadata.resourceVersion)"' before
  before=$(objects | jq -r "$filter")
  [ -n "$before" ] || echo "no objects"
  sleep 10
  diff <(echo "$before") <(objects | jq -r "$filter") || true
}

# check_workload WHEN [UIDS]
check_workload() {
  check "$1: $slices × $hosts TPU pods run, each slice whole in a node pool of its own, with its identity" \
    "$(problems_after 180 pod_problems "${2:-}")"
  check "$1: every object belongs to the workload" "$(problems_after 30 foreign_objects)"
  check "$1: nothing changes for 10 s" "$(problems_after 60 changes_within_10s)"
}

start_controlplane
start_upstream
check "upstream's CRDs are established" "$(problems_after 60 unestablished)"
before=$(crds)
start_operator
check "the overlay leaves upstream's CRDs as they are" "$(diff <(echo "$before") <(crds) || true)"

kube create namespace team >/dev/null
in_team apply --field-manager=sample -f "$root/deploy/samples/$sample.yaml"
check_workload "created"

victim=$(in_team get pods -o json | jq -c '
  def slice: .metadata.labels["tpuslice.dev/slice"] // "none";
  [.items[] | select(slice != "none")] | group_by(slice)[0] // empty')
[ -n "$victim" ] || die "the pods are of no slice"
in_team delete pod "$(jq -r '.[-1].metadata.name' <<<"$victim")" --wait=false >/dev/null
check_workload "a host was deleted" "$(jq -r '[.[].metadata.uid] | join(" ")' <<<"$victim")"

in_team delete --timeout=120s -f "$root/deploy/samples/$sample.yaml" >/dev/null || true
left() { in_team get "$resource.$group,jobs.batch,statefulsets.apps,services,pods" -o name; }
check "deleted: nothing is left" "$(problems_after 120 left)"

sent() { problems_of requests "$1"; }
check "our operator writes only pods and events" \
  "$(sent 'write and user == "ours" and on("team") and (.objectRef.resource | IN("pods", "events") | not)')"
check "upstream creates the children" \
  "$([ -n "$(requests 'user == "upstream" and on("team") and .verb == "create" and .objectRef.resource != "events"')" ] || echo "none")"
check "no request is forbidden" "$(sent '.responseStatus.code == 403')"
conflict='write and .responseStatus.code == 409 and .verb != "create"'
check "no write of ours conflicts, and none of upstream to a pod" \
  "$(sent "$conflict"' and (user == "ours" or .objectRef.resource == "pods")')"
check "our operator logs no conflict" "$(grep -iE 'the object has been modified|conflict' "$work/operator.log" | cut -c1-300 || true)"
sent "$conflict"' and user == "upstream" and .objectRef.resource != "pods"' | sed 's/^ */note  /'
check "both operators run" "$(for process in "${processes[@]:1}"; do kill -0 "$process" 2>/dev/null || echo "process $process ended"; done)"

complete=yes
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/usr/bin/env bash
# The commands of kubectl-tpu that need no model of the fleet, run by kubectl as its plugin.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
start_simulator "$1" deploy/samples/raycluster-maxtext-v6e-4x4.yaml
mkdir "$workdir/bin"
ln -s "$(realpath "$3")" "$workdir/bin/kubectl-tpu"
export PATH=$workdir/bin:$PATH
cluster=raycluster/maxtext-tpu-cluster

# code DESCRIPTION CODE COMMAND...: the command ends with this exit code.
code() {
  local what=$1 expected=$2 output status=0
  shift 2
  output=$("$@" 2>&1) || status=$?
  [ "$status" = "$expected" ] || fail "$what: \`$*\` ended with $status, expected $expected:"$'\n'"$output"
  printf 'ok: %s\n' "$what"
}
ready() { kubectl get "$cluster" -o 'jsonpath={.status.state}'; }
cordoned() { kubectl get nodes -o 'jsonpath={.items[?(@.spec.unschedulable==true)].metadata.name}' | wc -w; }

eventually "the sample runs" '^ready$' ready
expect "kubectl finds the plugin" 'Kubernetes +v1\.' kubectl tpu version
expect "the house's client answers the same" 'Kubernetes +v1\.' kubectl tpu version --http own
expect "help lists the commands" '^ +drain ' kubectl tpu --help
expect "requests are logged" 'request.*target=/version' kubectl tpu version -v 6
code "an unknown command is a usage error" 2 kubectl tpu frobnicate
code "an unknown workload is an error" 1 kubectl tpu hosts raycluster/none
expect "an unknown workload is named" 'raycluster.*none.*not found' kubectl tpu hosts raycluster/none

expect "hosts are listed" '^0 +maxtext.* +yes +0 +- +0$' kubectl tpu hosts "$cluster"
expect "hosts --check finds no mistake" '^3 +maxtext.* 3 ok +ok +ok$' kubectl tpu hosts maxtext-tpu-cluster --check
code "all hosts are ready" 0 kubectl tpu hosts "$cluster" --check
expect "hosts have a document" '"schema": "tpuslice.dev/hosts.v1"' kubectl tpu hosts "$cluster" -o json
expect "hosts have names" '^pod/maxtext' kubectl tpu hosts "$cluster" -o name
expect "the next command is printed" '^Next: kubectl tpu logs raycluster/maxtext-tpu-cluster -n default' kubectl tpu hosts "$cluster" --check
code "logs of all hosts are read" 0 kubectl tpu logs "$cluster"
code "logs are followed to their end" 0 kubectl tpu logs "$cluster" -f
code "logs of a host that does not exist" 1 kubectl tpu logs "$cluster" --host 9
expect "the dashboard is found" 'port-forward .*service/maxtext-tpu-cluster.*head-svc 8265:8265' kubectl tpu session "$cluster" --print
expect "session prints the URL" '^http://127.0.0.1:9999$' kubectl tpu session "$cluster" --print --port 9999

before=$(kubectl get pods -l ray.io/node-type=worker -o 'jsonpath={.items[*].metadata.uid}')
uids() { kubectl get pods -l ray.io/node-type=worker -o 'jsonpath={.items[*].metadata.uid}'; }
expect "restart --dry-run changes nothing" 'evicted \(dry run\)' kubectl tpu restart "$cluster" --dry-run
expect "the pods are the same" "^$before\$" uids
expect "restart evicts a pod of the slice" '^pod/maxtext.* evicted$' kubectl tpu restart "$cluster"
gone() { comm -12 <(tr ' ' '\n' <<<"$before" | sort) <(uids | tr ' ' '\n' | sort) | wc -l; }
eventually "all pods of the slice are replaced" '^0$' gone
eventually "the slice runs again" '^ready$' ready

pool=$(kubectl get pods -l ray.io/node-type=worker -o 'jsonpath={.items[0].spec.nodeName}' | sed 's/-[0-9]*$//')
expect "drain --dry-run says what it would do" '4 nodes, 1 slices; nothing was changed' kubectl tpu drain "pool/$pool" --dry-run
expect "no node is cordoned" '^0$' cordoned
expect "drain cordons and evicts" '4 nodes, 1 slices$' kubectl tpu drain "pool/$pool"
expect "all nodes are cordoned" '^4$' cordoned
moved() { kubectl get pods -l ray.io/node-type=worker -o 'jsonpath={.items[0].spec.nodeName}'; }
eventually "the slice runs on the other pool" "^v6e-4x4-[^${pool: -1}]-" moved
expect "undrain uncordons" '^node/.* uncordoned$' kubectl tpu undrain "pool/$pool"
expect "no node is cordoned any more" '^0$' cordoned
code "a pool that does not exist is an error" 1 kubectl tpu drain pool/none

expect "create prints a manifest" 'kind: JobSet' kubectl tpu create jobset made --tpu v6e-4x4 --slices 2 --image i -- python3 train.py
for kind in job jobset raycluster lws; do
  expect "the API server takes the manifest of a $kind" 'created' \
    bash -c "kubectl tpu create $kind made-$kind --tpu v5e-4x8 --image example -- sleep 9 | kubectl apply --server-side --dry-run=server -f - | sed s/serverside-applied/created/"
done
expect "create --apply creates" '^jobsets.jobset.x-k8s.io/made created$' kubectl tpu create jobset made --tpu v5e-4x8 --image example --apply
code "a shape that does not exist is a usage error" 2 kubectl tpu create jobset wrong --tpu v6e-3x3 --image example
kubectl delete jobset made >/dev/null
kubectl apply -f - >/dev/null <<'Y'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: once}
spec:
  replicatedJobs:
    - name: w
      template:
        spec:
          parallelism: 8
          completions: 8
          backoffLimit: 0
          template:
            spec:
              restartPolicy: Never
              nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v5-lite-podslice, cloud.google.com/gke-tpu-topology: 4x8}
              containers: [{name: main, image: example, resources: {limits: {google.com/tpu: "4"}}}]
Y
eventually "the JobSet runs" '^8$' bash -c 'kubectl get pods -l jobset.sigs.k8s.io/jobset-name=once --field-selector status.phase=Running -o name | wc -l'
code "a restart that would fail the workload is refused" 5 kubectl tpu restart jobset/once

kubectl apply -f deploy/samples/rayjob-train-v6e-4x4.yaml >/dev/null
job=$(kubectl get rayjobs -o name | sed 's,rayjob.ray.io/,rayjob/,')
eventually "the hosts of a RayJob are those of its cluster" '^3 .* yes .* 3 ok +ok +ok$' kubectl tpu hosts "$job" --check
expect "the dashboard of a RayJob is that of its cluster" '^http://127.0.0.1:8265$' kubectl tpu session "$job" --print
kubectl delete "$job" >/dev/null
kubectl tpu create lws groups --tpu v6e-4x4 --image example --apply >/dev/null 2>&1
eventually "the hosts of a LeaderWorkerSet are listed" '^3 .* yes .* 3 ok +ok +ok$' kubectl tpu hosts lws/groups --check
kubectl delete lws groups >/dev/null
kubectl tpu create job indexed --tpu v6e-4x4 --image example --apply -- sleep 99 >/dev/null 2>&1
eventually "the hosts of a Job are listed" '^3 .* 3 ok +ok +ok$' kubectl tpu hosts job/indexed --check
kubectl delete job indexed >/dev/null

expect "check reaches the webhook" '^webhook call +ok ' kubectl tpu check
expect "check finds the CRDs" '^crd jobsets +ok +serves v1alpha2' kubectl tpu check
expect "migrate check reads the objects" '^rayclusters +ok +1 objects: 0 cannot be taken over' kubectl tpu migrate check
(cd "$workdir" && expect "report writes an archive" 'x.tar.gz: [0-9]+ files' kubectl tpu report -f x.tar.gz)
expect "the archive has the pods" '^pods.json$' tar -tzf "$workdir/x.tar.gz"
expect "the archive has no values of users" '<redacted>' tar -xzOf "$workdir/x.tar.gz" pods.json
code "the archive is not replaced" 2 kubectl tpu report -f "$workdir/x.tar.gz"
mkdir "$workdir/report"
tar -xzf "$workdir/x.tar.gz" -C "$workdir/report"
expect "the simulator replays the archive" '^[0-9]+ of [0-9]+ slices and ' \
  "$1" --nodes "$workdir/report/nodes.json" "$workdir"/report/workloads/*.json

kubectl tpu completion >"$workdir/bin/kubectl_complete-tpu" 2>/dev/null
chmod +x "$workdir/bin/kubectl_complete-tpu"
expect "kubectl completes our commands" '^undrain' kubectl __complete tpu und
expect "kubectl completes our options" '^--follow' kubectl __complete tpu logs --fol

deploy/kubectl-tpu/krew.sh "$3" 0.1.0 https://example.com/releases/ "$workdir/krew" >/dev/null
archive=$(cd "$workdir/krew" && echo kubectl-tpu_0.1.0_linux_*.tar.gz)
expect "krew's manifest has the checksum of the archive" "sha256: $(sha256sum <"$workdir/krew/$archive" | cut -d ' ' -f 1)" cat "$workdir/krew/tpu.yaml"
expect "krew's manifest has its address" "uri: https://example.com/releases/$archive" cat "$workdir/krew/tpu.yaml"
expect "the archive has the program" '^./kubectl-tpu$' tar -tzf "$workdir/krew/$archive"
mkdir "$workdir/unpacked"
tar -C "$workdir/unpacked" -xzf "$workdir/krew/$archive"
expect "the unpacked program runs" '^kubectl-tpu  0\.1\.0$' "$workdir/unpacked/kubectl-tpu" version --client
deploy/kubectl-tpu/krew.sh "$3" 0.1.0 https://example.com/releases "$workdir/again" >/dev/null
expect "two archives of one program are equal" '^$' diff -r "$workdir/krew" "$workdir/again"

echo "plugin: all checks passed"

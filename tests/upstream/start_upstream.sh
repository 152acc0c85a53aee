# Sourced after processes.sh by the scripts that install and run an operator of upstream. They define die, and set $work, a directory
# with admin.kubeconfig; $kubectl; $program, upstream's operator; and $manifests, a file or a folder with a kustomization.

# select_kind KIND: sets what is known of jobset, lws or kuberay.
select_kind() { # group: of the CRDs; deployment: of upstream; config: API of its configuration file
  kind=$1
  case $kind in
    jobset)
      group=jobset.x-k8s.io resource=jobsets deployment=jobset-controller-manager
      config=config.jobset.x-k8s.io/v1alpha1 sample=jobset-maxtext-v5p-2x2x4
      ;;
    lws)
      group=leaderworkerset.x-k8s.io resource=leaderworkersets deployment=lws-controller-manager
      config=config.lws.x-k8s.io/v1alpha1 sample=leaderworkerset-serve-tpu7x-2x2x2
      ;;
    kuberay) group=ray.io resource=rayclusters deployment=kuberay-operator sample=raycluster-maxtext-v6e-4x4 ;;
    *) die "no kind $kind" ;;
  esac
}

# kube: kubectl with the administrator's kubeconfig.
kube() { "$kubectl" --kubeconfig="$work/admin.kubeconfig" "$@"; }
kustomization_or_file() { if [ -d "$1" ]; then echo "-k $1"; else echo "-f $1"; fi; }

# account_kubeconfig NAMESPACE NAME FILE: the kubeconfig of a ServiceAccount.
account_kubeconfig() {
  local token
  token=$(kube --namespace="$1" create token "$2" --duration=24h)
  kube config view --raw -o json |
    jq --arg namespace "$1" --arg token "$token" '.users[0].user = {token: $token} | .contexts[0].context.namespace = $namespace' >"$3"
}

# redirect_webhooks NAMESPACE PORT [CA]: webhooks of services of NAMESPACE become the same path on 127.0.0.1:PORT.
redirect_webhooks() {
  kube get mutatingwebhookconfigurations,validatingwebhookconfigurations -o json |
    jq --arg namespace "$1" --arg port "$2" --arg ca "${3:-}" '
      .items |= map(select(any(.webhooks[]?; .clientConfig.service.namespace == $namespace)) |
        .webhooks |= map(.clientConfig |= ({url: "https://127.0.0.1:\($port)\(.service.path)", caBundle} |
          if $ca != "" then .caBundle = $ca else del(.caBundle | nulls) end)))' >"$work/webhooks.json"
  [ "$(jq '.items | length' "$work/webhooks.json")" -eq 0 ] || kube replace -f "$work/webhooks.json" >/dev/null
}

# wait_ready PROCESS PORT LOG: until /readyz is ok.
wait_ready() {
  wait_until "$1" "$3" curl -sf "http://127.0.0.1:$2/readyz" || die "$3: not ready"
}

# start_upstream: $program takes the place of the Deployment in $manifests, with the permissions of its ServiceAccount. Webhooks are on if
# the manifests have any, with a certificate made here instead of a rotated one.
start_upstream() {
  # shellcheck disable=SC2046
  kube apply --server-side $(kustomization_or_file "$manifests") >"$work/upstream-apply.log" 2>&1
  kube get deployments -A -o json | jq --arg name "$deployment" '.items[] | select(.metadata.name == $name)' >"$work/upstream.json"
  upstream_namespace=$(jq -r .metadata.namespace "$work/upstream.json")
  upstream_account=$(jq -r .spec.template.spec.serviceAccountName "$work/upstream.json")
  kube --namespace="$upstream_namespace" delete deployment "$deployment" >/dev/null
  account_kubeconfig "$upstream_namespace" "$upstream_account" "$work/upstream.kubeconfig"
  local webhook health arguments=()
  webhook=$(free_port) health=$(free_port)
  mkdir "$work/certs"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$work/certs/tls.key" -out "$work/certs/tls.crt" 2>/dev/null
  redirect_webhooks "$upstream_namespace" "$webhook" "$(base64 -w0 "$work/certs/tls.crt")"
  if [ "$kind" = kuberay ]; then
    mapfile -t arguments < <(jq -r '.spec.template.spec.containers[0].args[]?' "$work/upstream.json")
    # Without the feature gate, which is off before 1.6, pods have no host index.
    arguments+=(--feature-gates=RayMultiHostIndexing=true --metrics-addr=0 "--health-probe-bind-address=127.0.0.1:$health")
    arguments+=(--enable-leader-election=false)
  else
    cat >"$work/upstream.yaml" <<YAML
apiVersion: $config
kind: Configuration
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
webhook: {host: 127.0.0.1, port: $webhook, certDir: $work/certs}
health: {healthProbeBindAddress: "127.0.0.1:$health"}
metrics: {bindAddress: "0"}
YAML
    arguments=("--config=$work/upstream.yaml")
  fi
  HOME=$work "$program" "${arguments[@]}" "--kubeconfig=$work/upstream.kubeconfig" >"$work/upstream.log" 2>&1 &
  processes+=($!)
  wait_ready $! "$health" "$work/upstream.log"
}

#!/usr/bin/env bash
# admission.sh CHECKOUT [FLAG...]: `make bench-admission` with the TPU webhook beside, in turns in one run.
#
#   CHECKOUT  of github.com/ai-on-gke/kuberay-tpu-webhook
#   FLAG      of tpu-slice-admission-bench
#
#   CONTROLPLANE  default: build/dev/bin/tpu-slice-controlplane
#   BENCH         default: build/release/bin/tpu-slice-admission-bench
#   ONE_CORE=1    each webhook uses one core, the client another (--one-core)
#
# Needs Go, openssl, curl, and the programs of `make controlplane`: the TPU webhook reads pods from an API server. The reviews have KubeRay's index
# labels, with which it does not wait for them.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
source "$root/tests/upstream/processes.sh"
die() { echo "admission.sh: $*" >&2; exit 2; }

[ $# -ge 1 ] || die "usage: admission.sh CHECKOUT [FLAG...]"
checkout=$(cd "$1" && pwd)
shift
controlplane=$(realpath "${CONTROLPLANE:-$root/build/dev/bin/tpu-slice-controlplane}")
bench=$(realpath "${BENCH:-$root/build/release/bin/tpu-slice-admission-bench}")
for file in "$controlplane" "$bench"; do [ -x "$file" ] || die "$file: no such program"; done
pin=()
[ -z "${ONE_CORE:-}" ] || { pin=(taskset -c 0) && set -- "$@" --one-core; }
go=$(command -v go || command -v /usr/local/go/bin/go) || die "Go is not installed"

work=$(mktemp -d -t admission.XXXXXX)
finish() {
  stop_processes
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

(cd "$checkout" && "$go" build -o "$work/webhook" .)
"$controlplane" --dir "$work/plane" --no-pools --no-kwok --no-scheduler --kubeconfig-out "$work/kubeconfig" >"$work/plane.log" 2>&1 &
processes+=($!)
wait_until $! "$work/plane.log" grep -q '^ready:' "$work/plane.log" || die "the control plane does not start"

port=$(free_port)
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
  -keyout "$work/tls.key" -out "$work/tls.crt" 2>/dev/null
"${pin[@]}" "$work/webhook" --bind-address "127.0.0.1:$port" --kube-config-path "$work/kubeconfig" --tls-cert-file "$work/tls.crt" \
  --tls-private-key-file "$work/tls.key" >"$work/webhook.log" 2>&1 &
processes+=($!)
wait_until $! "$work/webhook.log" curl -s --cacert "$work/tls.crt" "https://127.0.0.1:$port/" || die "the TPU webhook does not start"
"$bench" --tpu-webhook-port "$port" --tpu-webhook-pid $! --tpu-webhook-ca "$work/tls.crt" "$@"

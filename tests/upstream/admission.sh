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
processes=()
finish() {
  for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
  for process in "${processes[@]}"; do wait "$process" 2>/dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# wait_until PROCESS LOG COMMAND...: until COMMAND succeeds.
wait_until() {
  local process=$1 log=$2 until=$((SECONDS + 120))
  shift 2
  until "$@" >/dev/null 2>&1; do
    kill -0 "$process" 2>/dev/null && [ "$SECONDS" -lt "$until" ] || { tail -n 5 "$log" >&2; die "$log: not ready"; }
    sleep 1
  done
}

(cd "$checkout" && "$go" build -o "$work/webhook" .)
"$controlplane" --dir "$work/plane" --no-pools --no-kwok --no-scheduler --kubeconfig-out "$work/kubeconfig" >"$work/plane.log" 2>&1 &
processes+=($!)
wait_until $! "$work/plane.log" grep -q '^ready:' "$work/plane.log"

while port=$((20000 + RANDOM % 10000)); (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
  -keyout "$work/tls.key" -out "$work/tls.crt" 2>/dev/null
"${pin[@]}" "$work/webhook" --bind-address "127.0.0.1:$port" --kube-config-path "$work/kubeconfig" --tls-cert-file "$work/tls.crt" \
  --tls-private-key-file "$work/tls.key" >"$work/webhook.log" 2>&1 &
processes+=($!)
wait_until $! "$work/webhook.log" curl -s --cacert "$work/tls.crt" "https://127.0.0.1:$port/"
"$bench" --tpu-webhook-port "$port" --tpu-webhook-pid $! --tpu-webhook-ca "$work/tls.crt" "$@"

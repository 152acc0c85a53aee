#!/usr/bin/env bash
# The samples of RayJob and RayService in the simulator: the job succeeds, the services serve.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
workdir_of_pools=$(mktemp -d)
pools=$workdir_of_pools/pools.yaml
cat >"$pools" <<'YAML'
pools:
- {name: cpu, hosts: 2, cpu: "32", memory: 128Gi}
- {name: v6e-a, accelerator: tpu-v6e-slice, topology: 4x4}
- {name: v6e-b, accelerator: tpu-v6e-slice, topology: 4x4}
- {name: v5e-a, accelerator: tpu-v5-lite-podslice, topology: 2x4, machineType: ct5lp-hightpu-8t}
- {name: v5e-b, accelerator: tpu-v5-lite-podslice, topology: 2x4, machineType: ct5lp-hightpu-8t}
YAML
start_simulator "$1" --pools "$pools"
rm -rf "$workdir_of_pools"

kubectl apply -f deploy/samples/rayservice-llm-v6e-4x4.yaml -f deploy/samples/rayservice-llm-v5e-2x4.yaml >/dev/null
eventually "the service on a multi-host slice serves" '^llm .*Running +[1-9]' kubectl get rayservice llm --no-headers
eventually "the service on single hosts serves" '^llm-v5e .*Running +[1-9]' kubectl get rayservice llm-v5e --no-headers
kubectl apply -f deploy/samples/rayjob-train-v6e-4x4.yaml >/dev/null
eventually "the job succeeds" '^train +SUCCEEDED +Complete' kubectl get rayjob train --no-headers
expect "its submitter has completed" '^train +Complete' kubectl get job train --no-headers

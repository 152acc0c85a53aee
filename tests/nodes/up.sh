#!/usr/bin/env bash
# up.sh: runs a Kubernetes cluster with real kubelets until it is interrupted, and builds what is missing; `make nodes`.
#
#   up.sh [N] [ARGUMENT...]       N nodes, two of them without TPUs; by default 6. Arguments are those of tpu-slice-nodes
#
# The operator of this checkout is on the nodes as the image that deploy/install.yaml names. See README.md.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
cd "$here/../.."
nodes=6
if [[ ${1:-} =~ ^[0-9]+$ ]]; then nodes=$1; shift; fi
[ -f build/dev/build.ninja ] || cmake --preset dev -DTPUSLICE_TESTS=ON
cmake --build --preset dev -j "${JOBS:-2}" --target tpu-slice-nodes tpu-slice-operator
tests/controlplane/build.sh
images=(pause busybox)
for ((i = 1; i < $#; ++i)); do
  if [ "${!i}" = --image ]; then next=$((i + 1)); images+=("${!next}"); fi
done
tests/nodes/images/build.sh "${images[@]}" >/dev/null
archive=$(tests/nodes/operator_image.sh build/dev/bin/tpu-slice-operator)
exec tests/nodes/run.sh build/dev/bin/tpu-slice-nodes --nodes "$nodes" --import "$archive" "$@"

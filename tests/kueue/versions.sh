# Sourced by the scripts of this folder: version and paths of Kueue.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kueue=$(awk '$1 == "require" && $2 == "sigs.k8s.io/kueue" { print $3 }' "$here/go.mod")
cache=${TPUSLICE_CONTROLPLANE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tpu-slice-operator}/kueue
# The program `kueue`, its CustomResourceDefinitions in crds/, and webhooks.yaml.
built=$cache/kueue-$kueue-$(uname -m)

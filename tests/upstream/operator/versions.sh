# Sourced by the scripts of this folder, and by beside.sh: version and path of KubeRay.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kuberay=$(awk '$1 == "require" && $2 == "github.com/ray-project/kuberay/ray-operator" { print $3 }' "$here/go.mod")
cache=${TPUSLICE_CONTROLPLANE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tpu-slice-operator}/kuberay
# The directory of the program `kuberay-operator` and of config/.
built=$cache/kuberay-$kuberay-$(uname -m)

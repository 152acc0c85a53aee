# Sourced by the scripts that build and run upstream's operators: their modules, versions and paths.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${TPUSLICE_CONTROLPLANE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tpu-slice-operator}/upstream
declare -A modules=([jobset]=sigs.k8s.io/jobset [lws]=sigs.k8s.io/lws [kuberay]=github.com/ray-project/kuberay/ray-operator)
declare -A packages=([jobset]=. [lws]=./cmd [kuberay]=.)
# version_of KIND: as go.mod has it.
version_of() { awk -v module="${modules[$1]}" '$1 == module { print $2 }' "$here/go.mod"; }
# directory_of KIND: the directory of the program `operator` and of config/, upstream's kustomizations.
directory_of() { echo "$cache/$1-$(version_of "$1")-$(uname -m)"; }

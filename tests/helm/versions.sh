# Sourced by the scripts of this folder: version and path of Helm.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
helm=$(awk '$1 == "require" && $2 == "helm.sh/helm/v3" { print $3 }' "$here/go.mod")
cache=${TPUSLICE_CONTROLPLANE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tpu-slice-operator}/helm
# The directory of the program `helm`.
built=$cache/helm-$helm-$(uname -m)

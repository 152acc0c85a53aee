# Sourced by the scripts of this folder: the earlier version of the operator, and paths.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Until there is a release to upgrade from: the version before slices of autoscaled pools.
earlier=455a4726acff1622cc44e21b493362cabbebc6c3
cache=${TPUSLICE_CONTROLPLANE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tpu-slice-operator}/earlier
# The program `tpu-slice-operator` and the manifests of its version in deploy/.
built=$cache/${earlier:0:12}-$(uname -m)

# Sourced by the scripts of this folder: where the packages of package-lock.json are.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${TPUSLICE_CONTROLPLANE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tpu-slice-operator}/page
# Another directory for other packages.
built=$cache/packages-$(sha256sum "$here/package-lock.json" | cut -c1-16)

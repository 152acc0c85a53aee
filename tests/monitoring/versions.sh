# Sourced by the scripts of this folder: version and path of promtool.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prometheus=$(awk '$1 == "require" && $2 == "github.com/prometheus/prometheus" { print $3 }' "$here/go.mod")
cache=${TPUSLICE_CONTROLPLANE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tpu-slice-operator}/prometheus
# The directory of the program `promtool`.
built=$cache/prometheus-$prometheus-$(uname -m)

# Sourced by the scripts of this folder: programs and paths of the nodes. go.mod has the versions.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${TPUSLICE_CONTROLPLANE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tpu-slice-operator}/nodes
version_of() { awk -v module="$1" '$1 == module && $2 ~ /^v/ { print $2; exit }' "$here/go.mod"; }
source_hash() { cat "$@" | sha256sum | head -c 12; }

# Package of each program; kubelet and kube-proxy are built as the control plane is.
declare -A packages=(
  [containerd]=github.com/containerd/containerd/v2/cmd/containerd
  [containerd-shim-runc-v2]=github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2
  [ctr]=github.com/containerd/containerd/v2/cmd/ctr
  [runc]=github.com/opencontainers/runc
  [bridge]=github.com/containernetworking/plugins/plugins/main/bridge
  [loopback]=github.com/containernetworking/plugins/plugins/main/loopback
  [host-local]=github.com/containernetworking/plugins/plugins/ipam/host-local
  [coredns]=./coredns
  [device_plugin]=./device_plugin
)
kubernetes_programs=(kubelet kube-proxy)
debian_packages=(iproute2 nftables libseccomp-dev pkg-config busybox)
built=$cache/programs-$(source_hash "$here"/{,../controlplane/}go.{mod,sum} "$here"/{coredns,device_plugin}/*.go)-$(uname -m)
# The store of images, a root directory of containerd; images/build.sh adds to it.
images=$cache/images-$(source_hash "$here"/images/*)-$(uname -m)

# Sourced by the scripts of this folder: programs and paths of the nodes. go.mod has the versions.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${TPUSLICE_CONTROLPLANE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tpu-slice-operator}/nodes
version_of() { awk -v module="$1" '$1 == module && $2 ~ /^v/ { print $2; exit }' "$here/go.mod"; }
source_hash() { cat "$@" | sha256sum | head -c 12; }

# Packages of the programs, which have the packages' names; kubelet and kube-proxy are built as the control plane is.
packages=(
  github.com/containerd/containerd/v2/cmd/{containerd,containerd-shim-runc-v2,ctr}
  github.com/containernetworking/plugins/plugins/{main/bridge,main/loopback,ipam/host-local}
  ./coredns
  ./device_plugin
)
runc=github.com/opencontainers/runc
kubernetes_programs=(kubelet kube-proxy)
debian_packages=(iproute2 nftables libseccomp-dev pkg-config busybox)
built=$cache/programs-$(source_hash "$here"/go.{mod,sum} "$here/../controlplane${TPUSLICE_KUBERNETES:+/kubernetes-$TPUSLICE_KUBERNETES}"/go.{mod,sum} "$here"/{coredns,device_plugin}/*.go)-$(uname -m)
# The store of images, a root directory of containerd; images/build.sh adds to it.
images=$cache/images-$(source_hash "$here"/images/*)-$(uname -m)

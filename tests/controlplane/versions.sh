# Sourced by the scripts of this folder: versions, programs and paths of the control plane.
#
#   TPUSLICE_KUBERNETES  a minor version for which there is a folder kubernetes-<version>; default: the go.mod of this folder

here=$(dirname "${BASH_SOURCE[0]}")
modules=$here${TPUSLICE_KUBERNETES:+/kubernetes-$TPUSLICE_KUBERNETES}
if [ ! -f "$modules/go.mod" ]; then
  echo "control plane: TPUSLICE_KUBERNETES=$TPUSLICE_KUBERNETES: there is no $modules; leave it empty, or set it to one of:" \
    "$(cd "$here" && ls -d kubernetes-* | sed 's/kubernetes-//' | xargs)" >&2
  exit 2
fi
version_of() { awk -v module="$1" '$1 == module && $2 ~ /^v/ { print $2; exit }' "$modules/go.mod"; }
kubernetes=$(version_of k8s.io/kubernetes)
etcd=$(version_of go.etcd.io/etcd/server/v3)
kwok=$(version_of sigs.k8s.io/kwok)

programs=(etcd kube-apiserver kube-controller-manager kube-scheduler kwok kubectl)
cache=${TPUSLICE_CONTROLPLANE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tpu-slice-operator}/controlplane
built=$cache/kubernetes-$kubernetes-etcd-$etcd-kwok-$kwok-$(uname -m)/bin

# locate PROGRAM: prints its path. KUBEBUILDER_ASSETS comes first; an installed kubectl is used, too.
locate() {
  if [ -n "${KUBEBUILDER_ASSETS:-}" ] && [ -x "$KUBEBUILDER_ASSETS/$1" ]; then
    echo "$KUBEBUILDER_ASSETS/$1"
  elif [ "$1" = kubectl ] && command -v kubectl; then
    :
  elif [ -x "$built/$1" ]; then
    echo "$built/$1"
  else
    return 1
  fi
}

#!/usr/bin/env bash
# build.sh: builds the programs of the control plane, once, into a cache outside the source tree; `make controlplane`.
#
#   build.sh [PROGRAM...]        builds these commands of Kubernetes instead
#
#   TPUSLICE_CONTROLPLANE_CACHE  the cache; default: $XDG_CACHE_HOME/tpu-slice-operator or ~/.cache/tpu-slice-operator
#   TPUSLICE_KUBERNETES          another version of Kubernetes, see versions.sh
#   KUBEBUILDER_ASSETS           a directory with programs to use instead of building them
#
# assets.sh prints their paths. Programs of other versions stay in the cache, since another checkout may use them.
set -euo pipefail
source "$(dirname "$0")/versions.sh"
[ $# -eq 0 ] || programs=("$@")

die() { echo "control plane: $*" >&2; exit 1; }

absent() { # the programs to build
  local program
  for program in "${programs[@]}"; do locate "$program" >/dev/null || echo "$program"; done
}
[ -n "$(absent)" ] || exit 0

go=$(command -v go || command -v /usr/local/go/bin/go) ||
  die "Go is not installed (https://go.dev/dl, not Debian's 1.19); not built: $(absent | xargs)"
mkdir -p "$built" || die "$built cannot be created"
exec {lock}>"$built/.lock"
flock "$lock" # wait for another build of the same versions
mapfile -t wanted < <(absent)
[ ${#wanted[@]} -gt 0 ] || exit 0
temporary=$(mktemp -d "$built/.building.XXXXXX")
trap 'rm -rf "$temporary"' EXIT

package() {
  case $1 in
    etcd) echo go.etcd.io/etcd/server/v3 ;;
    kwok) echo sigs.k8s.io/kwok/cmd/kwok ;;
    *) echo "k8s.io/kubernetes/cmd/$1" ;;
  esac
}

# Without these variables the API server reports the version v0.0.0-master, which clients reject.
minor=${kubernetes#v1.}
stamp="-s -w -X sigs.k8s.io/kwok/pkg/consts.Version=$kwok"
for module in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  stamp+=" -X $module.gitVersion=$kubernetes -X $module.gitMajor=1 -X $module.gitMinor=${minor%%.*}"
  stamp+=" -X $module.gitTreeState=clean"
done

cd "$modules"
export CGO_ENABLED=0 GOWORK=off
started=$SECONDS
echo "control plane: Kubernetes $kubernetes, etcd $etcd, kwok $kwok into $built"
# Download in a separate step, to distinguish network errors from build errors.
if ! "$go" list -deps tool >/dev/null 2>"$temporary/log"; then
  die "Go modules cannot be loaded: $(grep -v '^go: downloading' "$temporary/log" | tail -n 1)"
fi
printf '  %-24s %4d s\n' modules $((SECONDS - started))
# One build of all, since each is linked on one core.
begun=$SECONDS
mapfile -t packages < <(for program in "${wanted[@]}"; do package "$program"; done)
if ! "$go" build -trimpath -ldflags "$stamp" -o "$temporary/" "${packages[@]}" 2>"$temporary/log"; then
  tail -n 20 "$temporary/log" >&2
  die "${wanted[*]}: cannot be built"
fi
[ ! -e "$temporary/server" ] || mv "$temporary/server" "$temporary/etcd" # Go names it by its package
for program in "${wanted[@]}"; do
  printf '  %-24s         %4d MB\n' "$program" $(($(stat -c %s "$temporary/$program") / 1000000))
  mv "$temporary/$program" "$built/"
done
printf '  %-24s %4d s\n' build $((SECONDS - begun))

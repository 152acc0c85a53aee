#!/usr/bin/env bash
# build.sh: builds KubeRay's operator, once for each version, into the cache of the control plane; beside.sh calls it.
#
#   TPUSLICE_CONTROLPLANE_CACHE  the cache; default: $XDG_CACHE_HOME/tpu-slice-operator or ~/.cache/tpu-slice-operator
#
# The directory has the program `kuberay-operator` and upstream's kustomizations in config/. go.sum has the checksum of the version.
set -euo pipefail
source "$(dirname "$0")/versions.sh"
source "$here/../../support/build_once.sh"
name=kuberay
begin_build "$built/kuberay-operator"
find_go

started=$SECONDS
echo "kuberay: KubeRay $kuberay into $built"
# Download in a separate step, to distinguish network errors from build errors.
cd "$here"
if ! { "$go" mod download github.com/ray-project/kuberay/ray-operator &&
       module=$("$go" list -m -f '{{.Dir}}' github.com/ray-project/kuberay/ray-operator) &&
       cd "$module" && "$go" list -deps . >/dev/null; } 2>"$temporary/log"; then
  die_of_modules
fi
printf '  %-24s %4d s\n' modules $((SECONDS - started))

begun=$SECONDS
if ! "$go" build -trimpath -mod=readonly -ldflags '-s -w' -o "$temporary/kuberay-operator" . 2>"$temporary/log"; then
  tail -n 20 "$temporary/log" >&2
  die "KubeRay cannot be built"
fi
mkdir -p "$built"
cp -rT config "$built/config"
chmod -R u+w "$built/config"
mv "$temporary/kuberay-operator" "$built/kuberay-operator" # last: it marks a complete directory
printf '  %-24s %4d s  %4d MB\n' kuberay-operator $((SECONDS - begun)) $(($(stat -c %s "$built/kuberay-operator") / 1000000))

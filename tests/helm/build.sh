#!/usr/bin/env bash
# build.sh: builds Helm, once for each version, into the cache of the control plane; `make controlplane`.
#
#   TPUSLICE_CONTROLPLANE_CACHE  the cache; default: $XDG_CACHE_HOME/tpu-slice-operator or ~/.cache/tpu-slice-operator
#
# assets.sh prints the path. go.sum has the checksum of the version.
set -euo pipefail
source "$(dirname "$0")/versions.sh"
source "$here/../support/build_once.sh"
name=helm
begin_build "$built/helm"
find_go

started=$SECONDS
echo "helm: Helm $helm into $built"
# Download in a separate step, to distinguish network errors from build errors.
cd "$here"
if ! { "$go" mod download helm.sh/helm/v3 &&
       module=$("$go" list -m -f '{{.Dir}}' helm.sh/helm/v3) &&
       cd "$module" && "$go" mod download; } 2>"$temporary/log"; then
  die_of_modules
fi
printf '  %-24s %4d s\n' modules $((SECONDS - started))

begun=$SECONDS
cd "$module"
# Helm takes the Kubernetes version of `helm template` from its own dependencies, as its release builds do.
client=$("$go" list -m -f '{{.Version}}' k8s.io/client-go)
minor=${client#v0.}
package=helm.sh/helm/v3
stamp="-s -w -X $package/internal/version.version=$helm"
for part in lint/rules chartutil; do
  stamp+=" -X $package/pkg/$part.k8sVersionMajor=1 -X $package/pkg/$part.k8sVersionMinor=${minor%%.*}"
done
if ! "$go" build -trimpath -mod=readonly -ldflags "$stamp" -o "$temporary/helm" ./cmd/helm 2>"$temporary/log"; then
  tail -n 20 "$temporary/log" >&2
  die "Helm cannot be built"
fi
mkdir -p "$built"
mv "$temporary/helm" "$built/helm"
printf '  %-24s %4d s  %4d MB\n' helm $((SECONDS - begun)) $(($(stat -c %s "$built/helm") / 1000000))

#!/usr/bin/env bash
# build.sh: builds Kueue, once for each version, into the cache of the control plane; `make controlplane`.
#
#   TPUSLICE_CONTROLPLANE_CACHE  the cache; default: $XDG_CACHE_HOME/tpu-slice-operator or ~/.cache/tpu-slice-operator
#
# assets.sh prints the directory. go.sum has the checksum of the version.
set -euo pipefail
source "$(dirname "$0")/versions.sh"
source "$here/../support/build_once.sh"
name=kueue
begin_build "$built/kueue"
find_go

started=$SECONDS
echo "kueue: Kueue $kueue into $built"
# Download in a separate step, to distinguish network errors from build errors.
cd "$here"
if ! { "$go" mod download sigs.k8s.io/kueue &&
       module=$("$go" list -m -f '{{.Dir}}' sigs.k8s.io/kueue); } 2>"$temporary/log"; then
  die_of_modules
fi

# A copy, since one line is changed: Kueue reads the certificate of its metrics server from a fixed directory below
# /etc. The tests keep it in Kueue's working directory.
cp -r "$module" "$temporary/source"
chmod -R u+w "$temporary/source"
cd "$temporary/source"
sed -i 's|metricsCertPath := "/etc/kueue/metrics/certs"|metricsCertPath := "metrics-certs"|' cmd/kueue/main.go
grep -q 'metricsCertPath := "metrics-certs"' cmd/kueue/main.go || die "main.go has no path of the metrics certificate"
if ! "$go" mod download 2>"$temporary/log"; then
  die_of_modules
fi
printf '  %-24s %4d s\n' modules $((SECONDS - started))

begun=$SECONDS
mkdir -p "$built/crds"
stamp="-s -w -X sigs.k8s.io/kueue/pkg/version.GitVersion=$kueue"
if ! "$go" build -trimpath -ldflags "$stamp" -o "$temporary/kueue" ./cmd/kueue 2>"$temporary/log"; then
  tail -n 20 "$temporary/log" >&2
  die "Kueue cannot be built"
fi
# Without the conversion webhooks that Kueue's kustomization adds: the tests use the stored version only.
cp config/components/crd/bases/*.yaml "$built/crds"
cp config/components/webhook/manifests.yaml "$built/webhooks.yaml"
mv "$temporary/kueue" "$built/kueue" # last: it marks a complete directory
printf '  %-24s %4d s  %4d MB\n' kueue $((SECONDS - begun)) $(($(stat -c %s "$built/kueue") / 1000000))

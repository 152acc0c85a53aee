#!/usr/bin/env bash
# build.sh: builds promtool, once for each version, into the cache of the control plane; `make check-alerts`.
#
#   TPUSLICE_CONTROLPLANE_CACHE  the cache; default: $XDG_CACHE_HOME/tpu-slice-operator or ~/.cache/tpu-slice-operator
#
# go.sum has the checksum of the version.
set -euo pipefail
source "$(dirname "$0")/versions.sh"
source "$here/../support/build_once.sh"
name=promtool
begin_build "$built/promtool"
find_go

started=$SECONDS
echo "promtool: Prometheus $prometheus into $built"
# Without service discovery, whose modules (SDKs of all clouds) are the largest part. Modules are downloaded in a separate step, to
# distinguish network errors from build errors.
tags=remove_all_sd
cd "$here"
if ! { "$go" mod download github.com/prometheus/prometheus &&
       module=$("$go" list -m -f '{{.Dir}}' github.com/prometheus/prometheus) &&
       cd "$module" && "$go" list -deps -tags "$tags" ./cmd/promtool >/dev/null; } 2>"$temporary/log"; then
  die_of_modules
fi
printf '  %-24s %4d s\n' modules $((SECONDS - started))

begun=$SECONDS
if ! "$go" build -trimpath -mod=readonly -tags "$tags" -ldflags '-s -w' -o "$temporary/promtool" ./cmd/promtool 2>"$temporary/log"; then
  tail -n 20 "$temporary/log" >&2
  die "promtool cannot be built"
fi
mkdir -p "$built"
mv "$temporary/promtool" "$built/promtool"
printf '  %-24s %4d s  %4d MB\n' promtool $((SECONDS - begun)) $(($(stat -c %s "$built/promtool") / 1000000))

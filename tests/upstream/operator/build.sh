#!/usr/bin/env bash
# build.sh: builds operators of upstream from their Go modules, once for each version, into the cache of the control plane.
#
#   build.sh [KIND...]           jobset, lws or kuberay; by default all
#
#   TPUSLICE_CONTROLPLANE_CACHE  the cache; default: $XDG_CACHE_HOME/tpu-slice-operator or ~/.cache/tpu-slice-operator
#
# go.mod and go.sum have versions and checksums; directory_of in versions.sh says where a program is.
set -euo pipefail
source "$(dirname "$0")/versions.sh"
source "$here/../../support/build_once.sh"

# build KIND
build() {
  local started=$SECONDS module built
  name=$1 built=$(directory_of "$1")
  begin_build "$built/operator"
  find_go
  echo "$1: $(version_of "$1") into $built"
  # Download in a separate step, to distinguish network errors from build errors.
  cd "$here"
  if ! { "$go" mod download "${modules[$1]}" &&
         module=$("$go" list -m -f '{{.Dir}}' "${modules[$1]}") &&
         cd "$module" && "$go" list -deps "${packages[$1]}" >/dev/null; } 2>"$temporary/log"; then
    die_of_modules
  fi
  printf '  %-24s %4d s\n' modules $((SECONDS - started))

  started=$SECONDS
  if ! "$go" build -trimpath -mod=readonly -ldflags '-s -w' -o "$temporary/operator" "${packages[$1]}" 2>"$temporary/log"; then
    tail -n 20 "$temporary/log" >&2
    die "it cannot be built"
  fi
  mkdir -p "$built"
  cp -rT config "$built/config"
  chmod -R u+w "$built/config"
  mv "$temporary/operator" "$built/operator" # last: it marks a complete directory
  printf '  %-24s %4d s  %4d MB\n' operator $((SECONDS - started)) $(($(stat -c %s "$built/operator") / 1000000))
}

[ $# -gt 0 ] || set -- jobset lws kuberay
for kind in "$@"; do
  [ -n "${modules[$kind]:-}" ] || { echo "build.sh: no kind $kind" >&2; exit 2; }
  (build "$kind")
done

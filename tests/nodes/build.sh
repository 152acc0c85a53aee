#!/usr/bin/env bash
# build.sh: builds the programs of the nodes, once, into the cache of the control plane; `make nodes`.
#
#   TPUSLICE_CONTROLPLANE_CACHE  the cache; default: $XDG_CACHE_HOME/tpu-slice-operator or ~/.cache/tpu-slice-operator
#
# Prints the directory of the programs on stdout.
set -euo pipefail
source "$(dirname "$0")/versions.sh"
source "$here/../support/build_once.sh"
name=nodes

"$here/../controlplane/build.sh" "${kubernetes_programs[@]}" >&2
"$here/../support/deps.sh" "${debian_packages[@]}" >&2
(
  cache=$built begin_build "$built/complete"
  find_go
  started=$SECONDS
  echo "nodes: containerd $(version_of github.com/containerd/containerd/v2) and others into $built" >&2
  cd "$here"
  # Download in a separate step, to distinguish network errors from build errors.
  "$go" list -deps tool ./... >/dev/null 2>"$temporary/log" || die_of_modules
  printf '  %-24s %4d s\n' modules $((SECONDS - started)) >&2
  begun=$SECONDS
  build() { # build CGO TAGS PACKAGE...: one build of all, since each is linked on one core
    CGO_ENABLED=$1 "$go" build -trimpath -ldflags "-s -w" -tags "$2" -o "$temporary/" "${@:3}" 2>"$temporary/log" ||
      { tail -n 20 "$temporary/log" >&2; die "${*:3}: cannot be built"; }
  }
  build 0 no_btrfs,no_devmapper,no_zfs "${packages[@]}"
  build 1 seccomp "$runc" # without seccomp, no sandbox starts
  printf '  %-24s %4d s\n' build $((SECONDS - begun)) >&2
  while IFS='=' read -r program path; do
    ln -s "$path" "$temporary/$program"
  done < <("$here/../controlplane/assets.sh" "${kubernetes_programs[@]}")
  rm "$temporary/log"
  mv "$temporary"/* "$built/"
  touch "$built/complete" && chmod +x "$built/complete"
)
echo "$built"

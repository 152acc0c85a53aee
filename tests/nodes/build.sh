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
  for program in "${!packages[@]}"; do
    begun=$SECONDS
    flags=(-tags no_btrfs,no_devmapper,no_zfs)
    cgo=0
    [ "$program" != runc ] || { flags=(-tags seccomp) cgo=1; } # without seccomp, no sandbox starts
    if ! CGO_ENABLED=$cgo "$go" build -trimpath -ldflags "-s -w" "${flags[@]}" -o "$temporary/$program" \
      "${packages[$program]}" 2>"$temporary/log"; then
      tail -n 20 "$temporary/log" >&2
      die "$program cannot be built"
    fi
    printf '  %-24s %4d s  %4d MB\n' "$program" $((SECONDS - begun)) \
      $(($(stat -c %s "$temporary/$program") / 1000000)) >&2
  done
  while IFS='=' read -r program path; do
    ln -s "$path" "$temporary/$program"
  done < <("$here/../controlplane/assets.sh" "${kubernetes_programs[@]}")
  rm "$temporary/log"
  mv "$temporary"/* "$built/"
  touch "$built/complete" && chmod +x "$built/complete"
)
echo "$built"

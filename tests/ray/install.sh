#!/usr/bin/env bash
# install.sh: installs Ray from PyPI into a virtual environment, once, outside the source tree. Prints its path.
#
#   TPUSLICE_RAY_CACHE  the directory of virtual environments; default: ~/.cache/tpu-slice-operator
set -euo pipefail
version=2.60.0
cache=${TPUSLICE_RAY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tpu-slice-operator}
environment=$cache/ray-$version
requirement="ray[default,serve]==$version"
installed() { [ "$(cat "$environment/.complete" 2>/dev/null)" = "$requirement" ]; }
if ! installed; then
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  mkdir -p "$cache"
  exec {lock}>"$cache/ray.lock"
  flock "$lock" # wait for another installation
  if ! installed; then
    echo "ray: installing Ray $version from PyPI into $environment" >&2
    rm -rf "$environment"
    if ! { python3 -m venv "$environment" && "$environment/bin/pip" install -q "$requirement"; } >"$log" 2>&1; then
      echo "ray: Ray $version cannot be installed: $(tail -n 1 "$log")" >&2
      exit 1
    fi
    echo "$requirement" >"$environment/.complete"
  fi
fi
echo "$environment"

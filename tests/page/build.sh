#!/usr/bin/env bash
# build.sh: installs what the tests of the fleet page need: Debian's Chromium, and the packages of package-lock.json from the
# npm registry, once for each version of that file, into the cache of the control plane.
#
#   TPUSLICE_CONTROLPLANE_CACHE  the cache; default: $XDG_CACHE_HOME/tpu-slice-operator or ~/.cache/tpu-slice-operator
#
# assets.sh prints the directory. package-lock.json has the checksums.
set -euo pipefail
source "$(dirname "$0")/versions.sh"
source "$here/../support/build_once.sh"
name=page
# Debian 12 has Node.js 18, in which playwright-core does not run; see nodejs.org.
node --version 2>/dev/null | grep -qE '^v(20\.(19|[2-9][0-9])|2[1-9]|[3-9][0-9])\.' || die "Node.js 20.19 or newer is not installed; the tests of the page are skipped"
command -v npm >/dev/null || die "npm is not installed"
"$here/../support/deps.sh" chromium fonts-dejavu-core
[ ! -e "$built/.complete" ] || exit 0
begin_build "$built/none"
[ ! -e "$built/.complete" ] || exit 0

echo "page: packages of package-lock.json into $built"
cp "$here/package.json" "$here/package-lock.json" "$temporary"
if ! (cd "$temporary" && npm ci --ignore-scripts --no-audit --no-fund) >"$temporary/log" 2>&1; then
  tail -n 5 "$temporary/log" >&2
  die "the packages cannot be installed"
fi
rm -rf "$built"
mkdir -p "$built"
mv "$temporary/node_modules" "$temporary/package.json" "$built"
touch "$built/.complete"

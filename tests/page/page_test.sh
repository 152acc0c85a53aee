#!/usr/bin/env bash
# page_test.sh FILE... [-- PROGRAM]: runs tests of the fleet page by Node's test runner; PROGRAM is kubectl-tpu.
# Exit status 77: skipped, as a program or package is missing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export TPUSLICE_PAGE_PACKAGES
TPUSLICE_PAGE_PACKAGES=$("$here/assets.sh") || { echo "skipped: see above" >&2; exit 77; }
files=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  files+=("$here/$1")
  shift
done
export TPUSLICE_PLUGIN=${2:-}
# The page's modules have no package.json, so Node says that it had to look at them to see that they are modules.
exec node --disable-warning=MODULE_TYPELESS_PACKAGE_JSON --test --test-timeout=300000 --test-force-exit --test-reporter=spec "${files[@]}"

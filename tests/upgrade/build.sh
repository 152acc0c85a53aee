#!/usr/bin/env bash
# build.sh: builds the version of the operator from which the tests upgrade, once, into the cache of the control plane.
#
# Exit status: 1 with one line on stderr if it cannot be built, as in a clone without the history of this repository.
set -euo pipefail
source "$(dirname "$0")/versions.sh"
source "$here/../support/build_once.sh"
name="earlier version"
begin_build "$built/tpu-slice-operator"
cd "$here/../.."
git cat-file -e "$earlier^{commit}" 2>/dev/null || git fetch --quiet --depth 1 origin "$earlier" 2>/dev/null ||
  die "commit $earlier is not in this clone"

started=$SECONDS
echo "earlier version: ${earlier:0:12} into $built"
mkdir -p "$temporary/source" "$built"
git archive "$earlier" | tar -x -C "$temporary/source"
cmake -S "$temporary/source" -B "$temporary/build" -G Ninja -DCMAKE_BUILD_TYPE=Dev -DCMAKE_CXX_FLAGS_DEV=-O0 \
  -DCMAKE_UNITY_BUILD=ON -DTPUSLICE_TESTS=OFF >"$temporary/log" 2>&1 &&
  cmake --build "$temporary/build" -j "${JOBS:-2}" --target tpu-slice-operator >>"$temporary/log" 2>&1 ||
  { tail -n 20 "$temporary/log" >&2; die "$earlier does not build"; }
cp -rT "$temporary/source/deploy" "$built/deploy"
mv "$temporary/build/bin/tpu-slice-operator" "$built/" # last: it marks a complete directory
printf '  %-24s %4d s\n' tpu-slice-operator $((SECONDS - started))

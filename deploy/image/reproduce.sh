#!/usr/bin/env bash
# Checks that COMMIT, by default the one that is checked out, gives the image with DIGEST: clones and builds it in a new
# folder, without cached objects. Equal digests need equal versions of the Debian packages, which a failure prints.
#
#   reproduce.sh DIGEST [COMMIT]        environment: JOBS (2), VERSION and SOURCE if the image was built with them
set -euo pipefail
[ $# -ge 1 ] || { echo "error: usage: reproduce.sh DIGEST [COMMIT]" >&2; exit 1; }
digest=$1 commit=${2:-HEAD}
source_root=$(realpath "$(dirname "$(realpath "$0")")/../..")
commit=$(git -C "$source_root" rev-parse "$commit")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The settings of the caller would replace those of the commit.
unset SOURCE_DATE_EPOCH REVISION
git clone --quiet --no-checkout "$source_root" "$work/clone"
git -C "$work/clone" checkout --quiet "$commit"
cd "$work/clone"
export CCACHE_DISABLE=1
cmake --preset release -DTPUSLICE_TESTS=OFF >/dev/null
cmake --build --preset release -j "${JOBS:-2}" --target tpu-slice-operator
deploy/image/build.sh --binary build/release/bin/tpu-slice-operator --out "$work/image" \
  ${VERSION:+--version "$VERSION"} | tee "$work/printed"
if ! grep -q " $digest\$" "$work/printed"; then
  jq -r '.packages[] | "\(.name) \(.versionInfo)"' "$work"/image/*.spdx.json
  echo "error: commit $commit gives another digest than $digest; compare the versions above with its SBOM" >&2
  exit 1
fi
echo "ok: commit $commit gives $digest"

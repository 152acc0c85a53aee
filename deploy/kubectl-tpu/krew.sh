#!/usr/bin/env bash
# Packs kubectl-tpu for krew: an archive with the program, its completion and the licence, and the manifest with the archive's
# checksum. The bytes depend on the inputs only.
#
#   krew.sh BINARY VERSION URL OUT    URL: the folder where the archive will be published
set -euo pipefail
export LC_ALL=C TZ=UTC
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

[ $# -eq 4 ] || fail "usage: krew.sh BINARY VERSION URL OUT"
binary=$1 version=$2 url=${3%/} out=$4
[ -x "$binary" ] || fail "$binary: no such program"
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+ ]] || fail "$version: not a version"
case $(uname -m) in
  x86_64) arch=amd64 ;;
  aarch64) arch=arm64 ;;
  *) fail "$(uname -m): krew has no packages for it here" ;;
esac
here=$(dirname "$(realpath "$0")")
archive=kubectl-tpu_${version}_linux_$arch.tar.gz

files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
install -m 755 "$binary" "$files/kubectl-tpu"
strip "$files/kubectl-tpu"
install -m 755 "$here/kubectl_complete-tpu" "$files/kubectl_complete-tpu"
install -m 644 "$here/../../LICENSE" "$files/LICENSE"
mkdir -p "$out"
tar --sort=name --mtime="@${SOURCE_DATE_EPOCH:-0}" --owner=0 --group=0 --numeric-owner -C "$files" -cf - . | gzip -9n >"$out/$archive"
sum=$(sha256sum <"$out/$archive" | cut -d ' ' -f 1)

cat >"$out/tpu.yaml" <<Y
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: tpu
spec:
  version: v$version
  homepage: $url
  shortDescription: Hosts, logs and node pools of TPU slices
  description: |
    Lists the hosts of a TPU slice and checks their identities, prints their logs, restarts slices, drains node pools, makes
    manifests, and checks the installation of tpu-slice-operator.
  caveats: |
    It needs the shared libraries of Debian 12: libcctz2, libcpprest2.10, libfmt9, libprometheus-cpp-core1.0, libre2-9,
    libsimdjson14, libspdlog1.10-fmt9, libssl3, libyaml-cpp0.7, zlib1g.
  platforms:
    - selector:
        matchLabels: {os: linux, arch: $arch}
      uri: $url/$archive
      sha256: $sum
      bin: kubectl-tpu
      files:
        - {from: kubectl-tpu, to: .}
        - {from: kubectl_complete-tpu, to: .}
        - {from: LICENSE, to: .}
Y
echo "$out/tpu.yaml"

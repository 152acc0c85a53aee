#!/usr/bin/env bash
# Builds the OCI image of the operator, or of kubectl-tpu, without a container engine; see docs/image.md. Equal inputs give equal bytes.
#
#   build.sh --binary FILE [--program NAME] [--version VERSION] [--out DIR]
#
# NAME is by default tpu-slice-operator, VERSION what the binary prints, DIR build/image. Environment: SOURCE_DATE_EPOCH, by default the time of
# the commit; REVISION, by default the commit; SOURCE, the URL of the repository, by default no label.
set -euo pipefail
export LC_ALL=C
umask 022
here=$(dirname "$(realpath "$0")")
source_root=$(realpath "$here/../..")

fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

binary='' program=tpu-slice-operator version='' out=build/image
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || fail "$1: a value is missing"
  case $1 in
    --binary) binary=$2 ;;
    --program) program=$2 ;;
    --version) version=$2 ;;
    --out) out=$2 ;;
    *) fail "$1: unknown option; known are --binary, --program, --version and --out" ;;
  esac
  shift 2
done
[ -x "$binary" ] || fail "--binary: Invalid value: \"$binary\": must be a program"
[[ $program =~ ^(tpu-slice-operator|kubectl-tpu)$ ]] ||
  fail "--program: Invalid value: \"$program\": must be tpu-slice-operator or kubectl-tpu"
version=${version:-$("$binary" --version)}
[[ $version =~ ^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$ ]] ||
  fail "--version: Invalid value: \"$version\": must be an image tag"

# of_commit FORMAT: of the commit that is checked out.
of_commit() {
  git -C "$source_root" log -1 --format="$1" 2>/dev/null || fail "no git checkout: set SOURCE_DATE_EPOCH and REVISION"
}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(of_commit %ct)}
if [ -z "${REVISION:-}" ]; then
  REVISION=$(of_commit %H)
  git -C "$source_root" diff --quiet HEAD -- || REVISION+=-dirty
fi
created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
architecture=$(dpkg --print-architecture)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
layout=$work/layout blobs=$work/layout/blobs/sha256
mkdir -p "$blobs"

# add_blob TYPE FILE: moves FILE into the layout and prints its descriptor.
add_blob() {
  local digest size
  digest=$(sha256sum <"$2" | cut -d ' ' -f 1)
  size=$(stat -c %s "$2")
  mv "$2" "$blobs/$digest"
  jq -cSn --arg type "$1" --arg digest "sha256:$digest" --argjson size "$size" \
    '{mediaType: $type, digest: $digest, size: $size}'
}

# archive FOLDER: prints its files as a tar archive that does not depend on who makes it, when and where.
archive() {
  (cd "$1" && tar --create --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mode=u-s,go-ws \
    --mtime="@$SOURCE_DATE_EPOCH" -- *)
}

# add_image: the layer, the configuration and the manifest, whose descriptor is printed.
add_image() {
  local diff_id layer config
  archive "$work/root" >"$work/layer.tar"
  diff_id=sha256:$(sha256sum <"$work/layer.tar" | cut -d ' ' -f 1)
  gzip -n -9 "$work/layer.tar"
  layer=$(add_blob application/vnd.oci.image.layer.v1.tar+gzip "$work/layer.tar.gz")
  jq -cSn --arg created "$created" --arg architecture "$architecture" --arg diff_id "$diff_id" \
    --arg program "/usr/local/bin/$program" --argjson labels "$labels" '{
    created: $created, architecture: $architecture, os: "linux",
    config: {
      User: "65532:65532", WorkingDir: "/", Entrypoint: [$program], Labels: $labels,
      Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
    },
    rootfs: {type: "layers", diff_ids: [$diff_id]},
    history: [{created: $created, created_by: "deploy/image/rootfs.sh"}]
  }' >"$work/config"
  config=$(add_blob application/vnd.oci.image.config.v1+json "$work/config")
  jq -cSn --argjson config "$config" --argjson layer "$layer" --argjson labels "$labels" '{
    schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", config: $config, layers: [$layer],
    annotations: $labels
  }' >"$work/manifest"
  add_blob application/vnd.oci.image.manifest.v1+json "$work/manifest"
}

# add_sbom IMAGE: the SBOM as an artifact that refers to the image; prints its descriptor.
add_sbom() {
  local empty sbom
  printf '{}' >"$work/empty"
  empty=$(add_blob application/vnd.oci.empty.v1+json "$work/empty")
  "$here/sbom.sh" "$work/root" "$version" "$(jq -r .digest <<<"$1")" "$created" "$program" >"$work/sbom"
  cp "$work/sbom" "$work/$name.spdx.json"
  sbom=$(add_blob application/spdx+json "$work/sbom")
  jq -cSn --argjson empty "$empty" --argjson sbom "$sbom" --argjson image "$1" --arg created "$created" \
    --arg title "$name.spdx.json" '{
    schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", artifactType: "application/spdx+json",
    config: $empty, layers: [$sbom + {annotations: {"org.opencontainers.image.title": $title}}], subject: $image,
    annotations: {"org.opencontainers.image.created": $created}
  }' >"$work/artifact"
  add_blob application/vnd.oci.image.manifest.v1+json "$work/artifact"
}

# write_index FOLDER DESCRIPTOR...: makes FOLDER an OCI layout with these manifests.
write_index() {
  local folder=$1
  shift
  printf '{"imageLayoutVersion":"1.0.0"}' >"$folder/oci-layout"
  jq -cSn '{schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests: $ARGS.positional}' \
    --jsonargs "$@" >"$folder/index.json"
}

# write_archive IMAGE: the image alone. `docker load` reads manifest.json, containerd reads index.json.
write_archive() {
  local folder=$work/archive manifest config layer file
  manifest=$(jq -r '.digest | ltrimstr("sha256:")' <<<"$1")
  config=$(jq -r '.config.digest | ltrimstr("sha256:")' "$blobs/$manifest")
  layer=$(jq -r '.layers[0].digest | ltrimstr("sha256:")' "$blobs/$manifest")
  mkdir -p "$folder/blobs/sha256"
  for file in "$manifest" "$config" "$layer"; do ln "$blobs/$file" "$folder/blobs/sha256/$file"; done
  write_index "$folder" "$1"
  jq -cSn --arg config "blobs/sha256/$config" --arg layer "blobs/sha256/$layer" \
    --arg tag "$program:$version" \
    '[{Config: $config, RepoTags: [$tag], Layers: [$layer]}]' >"$folder/manifest.json"
  archive "$folder" >"$work/$name.tar"
}

name=$program-$version-$architecture
labels=$(jq -cSn --arg program "$program" --arg version "$version" --arg revision "$REVISION" --arg created "$created" \
  --arg source "${SOURCE:-}" '{
  "org.opencontainers.image.title": $program,
  "org.opencontainers.image.version": $version,
  "org.opencontainers.image.revision": $revision,
  "org.opencontainers.image.licenses": "Apache-2.0",
  "org.opencontainers.image.created": $created
} + (if $source == "" then {} else {"org.opencontainers.image.source": $source} end)')

"$here/rootfs.sh" "$binary" "$work/root" "$program"
objcopy --only-keep-debug --compress-debug-sections "$binary" "$work/$name.debug"
image=$(add_image)
sbom=$(add_sbom "$image")
named=$(jq -cS --arg program "$program" --arg architecture "$architecture" --arg version "$version" '. + {
  platform: {architecture: $architecture, os: "linux"},
  annotations: {
    "org.opencontainers.image.ref.name": $version,
    "io.containerd.image.name": "docker.io/library/\($program):\($version)"
  }
}' <<<"$image")
named_sbom=$(jq -cS --arg name "$version-sbom" \
  '. + {artifactType: "application/spdx+json", annotations: {"org.opencontainers.image.ref.name": $name}}' <<<"$sbom")
write_index "$layout" "$named" "$named_sbom"
write_archive "$named"

mkdir -p "$out"
rm -rf "${out:?}/layout"
mv "$layout" "$work/$name.tar" "$work/$name.spdx.json" "$work/$name.debug" "$out/"
digest=$(jq -r .digest <<<"$image")
bytes=$(jq -r '.config.size + .layers[0].size' "$out/layout/blobs/sha256/${digest#sha256:}")
printf 'layout:  %s\narchive: %s\nsbom:    %s\ndebug:   %s\n' "$out/layout" "$out/$name.tar" "$out/$name.spdx.json" "$out/$name.debug"
awk -v bytes="$bytes" 'BEGIN { printf "size:    %.1f MiB compressed\n", bytes / 1048576 }'
printf 'digest:  %s\n' "$digest"

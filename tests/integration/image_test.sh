#!/usr/bin/env bash
# The OCI image: its bytes depend on the inputs only, its files are safe and complete, the SBOM lists what is in it, and the
# operator runs from the unpacked root as the image's user. The image is made of the binary of this build.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
simulator_binary=$1 operator_binary=$2 plugin_binary=$3
build=$(realpath "$(dirname "$operator_binary")/..")
for command in dpkg-query jq ninja readelf strip unshare; do
  command -v "$command" >/dev/null || fail "$command is not installed; tests/support/deps.sh installs what tests need"
done

operator_kubeconfig=$(mktemp -u)
start_simulator "$simulator_binary" --no-operator --operator-kubeconfig "$operator_kubeconfig"
cleanup=$(trap -p EXIT | sed "s/^trap -- '//; s/' EXIT$//")
operator=
trap '[ -z "$operator" ] || kill -9 "$operator" || true; rm -f "$operator_kubeconfig"; '"$cleanup" EXIT
export SOURCE_DATE_EPOCH=1790000000 REVISION=0123456789abcdef0123456789abcdef01234567 SOURCE=https://example.com/repository
image=$workdir/image layout=$workdir/image/layout blobs=$workdir/image/layout/blobs/sha256 root=$workdir/root

check_jq() { # check_jq DESCRIPTION FILTER FILE [options of jq]: the filter is true of the file.
  local what=$1 filter=$2 file=$3
  shift 3
  jq -e "$@" "$filter" "$file" >/dev/null || fail "$what: not true of $(head -c 3000 "$file"): $filter"
  printf 'ok: %s\n' "$what"
}
equal() { # equal DESCRIPTION EXPECTED ACTUAL
  [ "$2" = "$3" ] || fail "$1: expected: $2"$'\n'"found: $3"
  printf 'ok: %s\n' "$1"
}
hex_of() { jq -r "$1 | ltrimstr(\"sha256:\")" "$2"; }

test_reproducible() {
  deploy/image/build.sh --binary "$operator_binary" --out "$image" >"$workdir/printed"
  expect "the size is printed" '^size: +[0-9.]+ MiB compressed$' cat "$workdir/printed"
  # Another user's environment: umask, time zone, language, folder, time of the binary.
  mkdir -p "$workdir/other/place"
  cp "$operator_binary" "$workdir/other/operator"
  touch -d 2001-01-01 "$workdir/other/operator"
  (
    umask 077
    cd "$workdir/other/place"
    TZ=Asia/Tokyo LC_ALL=C.UTF-8 TMPDIR=$workdir/other "$OLDPWD/deploy/image/build.sh" \
      --binary ../operator --out image >/dev/null
  )
  diff -r "$image" "$workdir/other/place/image" || fail "two builds of equal inputs differ"
  echo "ok: two builds of equal inputs are equal to the byte"
  SOURCE_DATE_EPOCH=1790000001 deploy/image/build.sh --binary "$operator_binary" --out "$workdir/later" >"$workdir/printed_later"
  ! diff <(grep digest "$workdir/printed") <(grep digest "$workdir/printed_later") >/dev/null ||
    fail "a build of another commit has the same digest"
  echo "ok: a build of another commit has another digest"
}

test_layout() {
  local file size=0
  for file in "$blobs"/*; do
    [ "$(sha256sum <"$file" | cut -d ' ' -f 1)" = "$(basename "$file")" ] || fail "$file does not have the content of its name"
  done
  check_jq "the folder is an OCI layout" '.imageLayoutVersion == "1.0.0"' "$layout/oci-layout"
  manifest=$blobs/$(hex_of '.manifests[0].digest' "$layout/index.json")
  config=$blobs/$(hex_of .config.digest "$manifest")
  layer=$blobs/$(hex_of '.layers[0].digest' "$manifest")
  artifact=$blobs/$(hex_of '.manifests[1].digest' "$layout/index.json")
  check_jq "the index has the image for this machine" '.manifests | length == 2 and .[0].platform == {architecture: $a, os: "linux"}' \
    "$layout/index.json" --arg a "$(dpkg --print-architecture)"
  check_jq "the index names the image and the SBOM" '[.manifests[].annotations["org.opencontainers.image.ref.name"]] == [$v, $v + "-sbom"]' \
    "$layout/index.json" --arg v "$("$operator_binary" --version)"
  expect "the digest of the image is printed" "^digest: +sha256:$(basename "$manifest")$" cat "$workdir/printed"
  jq -r '[.config, .layers[]?, .manifests[]?] | .[] | select(.digest) | "\(.digest) \(.size)"' "$layout/index.json" "$manifest" "$artifact" |
    while read -r digest size; do
      [ "$size" = "$(stat -c %s "$blobs/${digest#sha256:}")" ] || fail "$digest does not have the size of its descriptor"
    done
  echo "ok: blobs have the digests and sizes of their descriptors"
  [ "$(stat -c %s "$layer")" -lt $((30 << 20)) ] || fail "the layer has $(stat -c %s "$layer") bytes, more than 30 MiB"
  check_jq "the configuration names the layer" '.rootfs.diff_ids == [$d]' "$config" --arg d "sha256:$(gzip -dc "$layer" | sha256sum | cut -d ' ' -f 1)"
  check_jq "the image runs the operator as a user that is not root" \
    '.config | .User == "65532:65532" and .Entrypoint == ["/usr/local/bin/tpu-slice-operator"]' "$config"
  check_jq "the image has its labels" '.config.Labels == {
    "org.opencontainers.image.title": "tpu-slice-operator", "org.opencontainers.image.version": $v,
    "org.opencontainers.image.revision": $r, "org.opencontainers.image.licenses": "Apache-2.0",
    "org.opencontainers.image.created": "2026-09-21T14:13:20Z", "org.opencontainers.image.source": $s}' "$config" \
    --arg v "$("$operator_binary" --version)" --arg r "$REVISION" --arg s "$SOURCE"
}

test_archive() {
  local archive=("$image"/*.tar)
  mkdir "$workdir/archive"
  tar -xf "${archive[0]}" -C "$workdir/archive"
  check_jq "the archive has the names that docker load reads" \
    '.[0] | .Config == "blobs/sha256/" + $c and .Layers == ["blobs/sha256/" + $l] and .RepoTags == ["tpu-slice-operator:" + $v]' \
    "$workdir/archive/manifest.json" --arg c "$(basename "$config")" --arg l "$(basename "$layer")" --arg v "$("$operator_binary" --version)"
  check_jq "the archive has the image only" '[.manifests[].digest] == [$d]' "$workdir/archive/index.json" --arg d "sha256:$(basename "$manifest")"
  equal "the archive has the blobs of the layout" "" "$(diff -r "$workdir/archive/blobs/sha256" "$blobs" | grep -v "^Only in $blobs" || true)"
}

test_files() {
  local found
  tar --numeric-owner -tvzf "$layer" >"$workdir/files"
  found=$(awk '$2 != "0/0"' "$workdir/files")
  equal "all files are owned by root" "" "$found"
  found=$(awk '$1 !~ /^l/ && (substr($1, 9, 1) == "w" || substr($1, 6, 1) == "w" || $1 ~ /[sStT]/)' "$workdir/files")
  equal "no file is writable by others than root, setuid or setgid" "" "$found"
  equal "there are only files, folders and links" "" "$(awk '$1 !~ /^[-dl]/' "$workdir/files")"
  equal "the only programs are the operator and its loader" "$(printf '%s\n' operator loader | sort)" "$(
    awk '$1 ~ /^-..x/ { print $6 }' "$workdir/files" | sed 's,.*/tpu-slice-operator$,operator,; s,.*/ld-linux.*,loader,' | sort)"
  mkdir "$root"
  tar -xzf "$layer" -C "$root" --no-same-owner
  equal "no link leads nowhere" "" "$(in_root_links)"
  expect "user 65532 has a name" '^nonroot:x:65532:65532:' cat "$root/etc/passwd"
  expect "there are CA certificates" '^[1-9][0-9]+$' grep -c 'BEGIN CERTIFICATE' "$root/etc/ssl/certs/ca-certificates.crt"
  equal "time zones are there" Europe/Berlin "$(cd "$root/usr/share/zoneinfo" && ls Europe/Berlin)"
  expect "the operator is stripped" '^0$' bash -c "readelf -S '$root/usr/local/bin/tpu-slice-operator' | grep -c symtab"
  equal "the debug file has the build id of the operator" "$(readelf -n "$root/usr/local/bin/tpu-slice-operator" | grep 'Build ID')" \
    "$(readelf -n "$image"/*.debug | grep 'Build ID')"
  expect "the debug file knows the lines of a function" '\.cpp:[0-9]+' addr2line -e "$(echo "$image"/*.debug)" \
    "0x$(nm "$operator_binary" | awk '$3 == "main" { print $1 }')"
  expect "the operator has a build id" 'Build ID: [0-9a-f]{16}' readelf -n "$root/usr/local/bin/tpu-slice-operator"
}

# in_root_links: links whose target is not in the root.
in_root_links() {
  local link target
  while read -r link; do
    target=$(readlink "$link")
    case $target in /*) target=$root$target ;; *) target=$(dirname "$link")/$target ;; esac
    [ -e "$target" ] || [ -L "$target" ] || printf '%s\n' "$link"
  done < <(find "$root" -type l)
}

test_sbom() {
  local sbom=("$image"/*.spdx.json)
  cmp "${sbom[0]}" "$blobs/$(hex_of '.layers[0].digest' "$artifact")"
  check_jq "the SBOM is an artifact that refers to the image" \
    '.artifactType == "application/spdx+json" and .layers[0].mediaType == "application/spdx+json" and .subject == $i and .config.mediaType == "application/vnd.oci.empty.v1+json"' \
    "$artifact" --argjson i "$(jq '.manifests[0] | {mediaType, digest, size}' "$layout/index.json")"
  check_jq "the SBOM has what SPDX 2.3 requires of documents" '
    .spdxVersion == "SPDX-2.3" and .dataLicense == "CC0-1.0" and .SPDXID == "SPDXRef-DOCUMENT" and (.name | length > 0)
    and (.documentNamespace | test("^https://[^#]+$"))
    and (.creationInfo.created | test("^[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}Z$"))
    and (.creationInfo.creators | length > 0 and all(test("^(Tool|Person|Organization): .")))' "${sbom[0]}"
  check_jq "the SBOM has what SPDX 2.3 requires of packages" '.packages | length > 10 and all(
    (.SPDXID | test("^SPDXRef-[A-Za-z0-9.-]+$")) and (.name | length > 0) and (.downloadLocation | length > 0)
    and .filesAnalyzed == false and (.versionInfo | length > 0) and (.supplier | test("^(NOASSERTION|Organization: .+)$"))
    and (.externalRefs | all(.referenceCategory == "PACKAGE-MANAGER" and .referenceType == "purl" and (.referenceLocator | test("^pkg:[a-z]+/[^ ]+@[^ +]+$")))))' "${sbom[0]}"
  check_jq "relationships refer to elements of the SBOM, whose ids are unique" '
    ([.packages[].SPDXID] + [.SPDXID]) as $ids | ($ids | length) == ($ids | unique | length)
    and (.relationships | all((.spdxElementId, .relatedSpdxElement) as $id | $ids | index($id) != null))
    and ([.relationships[].relatedSpdxElement] | sort) == ([.packages[].SPDXID] | sort)' "${sbom[0]}"
  check_jq "the SBOM lists the operator with its version and licence" \
    '.packages[] | select(.name == "tpu-slice-operator") | .versionInfo == $v and .licenseDeclared == "Apache-2.0" and .checksums[0].checksumValue == $c' \
    "${sbom[0]}" --arg v "$("$operator_binary" --version)" --arg c "$(sha256sum <"$root/usr/local/bin/tpu-slice-operator" | cut -d ' ' -f 1)"
  jq -r '.packages[] | select(.supplier == "Organization: Debian") | "\(.name) \(.versionInfo)"' "${sbom[0]}" | while read -r package version; do
    [ "$version" = "$(dpkg-query -W -f='${Version}\n' "$package" | head -n 1)" ] || fail "$package does not have version $version"
    [ -s "$root/usr/share/doc/$package/copyright" ] || fail "the image has no licence texts of $package"
  done
  echo "ok: packages have the installed versions, and their licence texts are in the image"
  test_sbom_is_complete "${sbom[0]}"
}

# Each library of the root, and each header that the operator was compiled with, comes from a package of the SBOM, or from a
# source package whose library is in the SBOM. Only Linux' own headers, which are interfaces, are not listed.
test_sbom_is_complete() {
  local sources libraries headers package missing=''
  sources=$(jq -r '.packages[].sourceInfo // empty' "$1" | sed 's/built from Debian source package \([^ ]*\) .*/\1/' | sort -u)
  libraries=$(packages_of_libraries) || fail "packages of libraries are not known: $libraries"
  headers=$(packages_of_headers) || fail "packages of headers are not known: $headers"
  grep -q '^nlohmann-json' <<<"$headers" || fail "the headers that were compiled are not known: $headers"
  for package in $libraries $headers; do
    grep -Fxq "$(dpkg-query -W -f='${source:Package}\n' "$package" | head -n 1)" <<<"$sources" || missing+=" $package"
  done
  equal "every library and header that the operator is made of is in the SBOM" "" "$missing"
}
packages_of_libraries() {
  find "$root/usr/lib" -name '*.so*' -type f -printf '%f\n' | sed 's,^,*/,' | xargs dpkg-query -S | grep "$(uname -m)-linux-gnu/" |
    sed 's/: .*//' | sort -u
}
packages_of_headers() {
  ninja -C "$build" -t inputs bin/tpu-slice-operator | grep '\.o$' | xargs ninja -C "$build" -t deps |
    awk '$1 ~ /^\/usr\/include/ { print $1 }' | sort -u | xargs dpkg-query -S | sed 's/: .*//' | grep -v '^linux-libc-dev' | sort -u
}

# in_image PROGRAM...: becomes the program, with the root of the image as its root, as the user of the image.
in_image() {
  if [ "$(id -u)" -eq 0 ]; then
    exec chroot --userspec=65532:65532 "$root" "$@"
  fi
  exec unshare --user --map-user=65532 --map-group=65532 --root="$root" --wd=/ "$@"
}

test_runs() {
  local loader libraries
  expect "the operator starts from the root of the image" "^$("$operator_binary" --version)$" in_subshell /usr/local/bin/tpu-slice-operator --version
  loader=$(readelf -l "$root/usr/local/bin/tpu-slice-operator" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
  libraries=$(in_subshell "$loader" --list /usr/local/bin/tpu-slice-operator)
  ! grep 'not found' <<<"$libraries" || fail "libraries are missing in the root"
  expect "the root has the libraries of the operator" 'libssl.so.3 => /lib/' printf '%s' "$libraries"
  install -m 644 "$operator_kubeconfig" "$root/kubeconfig"
  (in_image /usr/local/bin/tpu-slice-operator --kubeconfig /kubeconfig --leader-elect --leader-election-namespace=default \
    --webhook-bind-address=127.0.0.1:0 --metrics-bind-address=127.0.0.1:0 --health-probe-bind-address=127.0.0.1:0) 2>"$workdir/operator" &
  operator=$!
  eventually "the operator listens" '"for":"health"' cat "$workdir/operator"
  eventually "the operator is ready" '^ok$' curl -s "http://127.0.0.1:$(sed -n 's/.*"for":"health","port":\([0-9]*\).*/\1/p' "$workdir/operator")/readyz"
  equal "its user is that of the image" "$(user_in_image)" "$(awk '/^Uid:/ { print $2, $3 }' "/proc/$operator/status")"
  kubectl apply -f deploy/samples/raycluster-maxtext-v6e-4x4.yaml >/dev/null
  eventually "it serves a RayCluster" 'maxtext-tpu-cluster +4 +4 .* ready' kubectl get rayclusters
  kill -TERM "$operator"
  wait "$operator" || fail "the operator did not exit with 0: $(tail -n 3 "$workdir/operator")"
  operator=
  echo "ok: the operator exits with 0 on SIGTERM"
}
in_subshell() { (in_image "$@"); }
# Seen from outside a user namespace, user 65532 is the user who made it.
user_in_image() { if [ "$(id -u)" -eq 0 ]; then echo "65532 65532"; else echo "$(id -u) $(id -u)"; fi; }

test_dockerfile() {
  local from
  expect "the Dockerfile makes the root with the same script" 'RUN deploy/image/rootfs.sh build/release/bin/tpu-slice-operator /rootfs' cat deploy/Dockerfile
  expect "the image of the Dockerfile has nothing but this root" '^FROM scratch$' grep -E '^FROM' deploy/Dockerfile
  equal "one COPY fills it" "COPY --from=build /rootfs /" "$(sed -n '/^FROM scratch/,$ { /^COPY\|^ADD\|^RUN/p }' deploy/Dockerfile)"
  expect "the Dockerfile sets the same user" "^USER $(jq -r .config.User "$config")$" cat deploy/Dockerfile
  expect "the Dockerfile sets the same entrypoint" "$(jq -r '.config.Entrypoint[0]' "$config")" grep -E '^ENTRYPOINT' deploy/Dockerfile
  equal "the Dockerfile sets the same labels" "$(jq -r '.config.Labels | keys[]' "$config" | sort)" \
    "$(grep -o 'org\.opencontainers\.image\.[a-z]*' deploy/Dockerfile | sort)"
  while read -r _ from _; do
    [[ $from = scratch || $from =~ ^[a-z0-9./:-]+@sha256:[0-9a-f]{64}$ ]] || fail "deploy/Dockerfile: $from is not pinned by digest"
  done < <(grep '^FROM' deploy/Dockerfile)
  echo "ok: base images are pinned by digest"
}

in_root_of_plugin() { (root=$workdir/plugin_root; in_image "$@"); }

# The image of kubectl-tpu is made by the same scripts.
test_plugin() {
  deploy/image/build.sh --binary "$plugin_binary" --program kubectl-tpu --out "$workdir/plugin" >"$workdir/printed"
  mkdir "$workdir/plugin_root"
  local blobs=$workdir/plugin/layout/blobs/sha256 manifest config
  manifest=$blobs/$(hex_of '.manifests[0].digest' "$workdir/plugin/layout/index.json")
  config=$blobs/$(hex_of .config.digest "$manifest")
  check_jq "the image of kubectl-tpu runs it" '.config.Entrypoint == ["/usr/local/bin/kubectl-tpu"]' "$config"
  tar -xzf "$blobs/$(hex_of '.layers[0].digest' "$manifest")" -C "$workdir/plugin_root"
  expect "kubectl-tpu starts from the root of its image" "^$("$plugin_binary" --version)$" \
    in_root_of_plugin /usr/local/bin/kubectl-tpu --version
  expect "its SBOM names it" '"name": "kubectl-tpu"' jq . "$workdir"/plugin/kubectl-tpu-*.spdx.json
}

test_refusals() {
  expect "a binary is needed" 'error: --binary: Invalid value: "": must be a program' deploy/image/build.sh --out "$workdir/refused"
  expect "a version is a tag" 'error: --version: Invalid value: "a/b": must be an image tag' \
    deploy/image/build.sh --binary "$operator_binary" --version a/b --out "$workdir/refused"
  expect "a program that is not ours is refused" 'not a dynamically linked program|ldd' \
    deploy/image/build.sh --binary deploy/image/build.sh --version 1 --out "$workdir/refused"
  [ ! -e "$workdir/refused" ] || fail "a refused build left files"
}

test_reproducible
test_layout
test_archive
test_files
test_sbom
test_runs
test_dockerfile
test_plugin
test_refusals

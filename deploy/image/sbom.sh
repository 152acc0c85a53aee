#!/usr/bin/env bash
# Prints the SBOM of an image as SPDX 2.3: the program, the libraries in its binary, the packages of other files. ROOT was
# made by rootfs.sh with the packages that are installed; DIGEST is that of the image's manifest; CREATED is a time such
# as 2026-01-31T12:00:00Z.
#
#   sbom.sh ROOT VERSION DIGEST CREATED NAME    NAME: of the program in the image
set -euo pipefail
export LC_ALL=C
[ $# -eq 5 ] || { echo "error: usage: sbom.sh ROOT VERSION DIGEST CREATED NAME" >&2; exit 1; }
root=$1 version=$2 digest=$3 created=$4 program=$5
# shellcheck source=/dev/null
distribution=$(. "$root/etc/os-release" && printf '%s-%s' "$ID" "$VERSION_ID")

# debian_package NAME CONTENT: one line with what is in the SBOM of an installed package.
debian_package() {
  local fields='${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}\t${Homepage}'
  dpkg-query -W -f="$fields\t$2\n" "$1" | head -n 1
}

{
  for record in "$root"/var/lib/dpkg/status.d/*; do debian_package "$(basename "$record")" files; done
  for package in $("$(dirname "$0")/header_libraries.sh"); do debian_package "$package" compiled; done
} | jq -RnS --arg version "$version" --arg digest "${digest#sha256:}" --arg created "$created" \
  --arg distro "$distribution" --arg program "$program" \
  --arg binary "$(sha256sum <"$root/usr/local/bin/$program" | cut -d ' ' -f 1)" \
  --arg architecture "$(dpkg --print-architecture)" '
  # The licences of the libraries in the binary; those of the packages are in the image, in /usr/share/doc.
  {"libboost1.74-dev": "BSL-1.0", "nlohmann-json3-dev": "MIT", "libcli11-dev": "BSD-3-Clause"} as $licences
  | def id: "SPDXRef-Package-" + gsub("[^A-Za-z0-9.-]"; "-");
    # The version in a package URL: "+", ":" and "~" are percent-encoded as by @uri, where "~" stays.
    def purl: "pkg:deb/debian/\(.name | @uri)@\(.version | @uri)?arch=\(.architecture)&distro=\($distro)";
    def package: {
      SPDXID: (.name | id), name, versionInfo: .version, supplier: "Organization: Debian", filesAnalyzed: false,
      downloadLocation: "NOASSERTION", copyrightText: "NOASSERTION", licenseConcluded: "NOASSERTION",
      licenseDeclared: ($licences[.name] // "NOASSERTION"),
      sourceInfo: "built from Debian source package \(.source) \(.source_version)",
      comment: "licence texts: /usr/share/doc/\(.name)/copyright",
      externalRefs: [{referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: purl}]
    } + (if .homepage == "" then {} else {homepage} end);
    def relation($from; $type; $to): {spdxElementId: $from, relationshipType: $type, relatedSpdxElement: $to};
  [inputs | split("\t")
   | {name: .[0], version: .[1], architecture: .[2], source: .[3], source_version: .[4], homepage: .[5], content: .[6]}
  ] as $debian
  | "SPDXRef-Package-\($program)" as $operator
  | {
    spdxVersion: "SPDX-2.3", dataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT", name: "\($program)-\($version)",
    documentNamespace: "https://tpuslice.dev/spdx/\($program)/\($version)/\($digest)",
    creationInfo: {created: $created, creators: ["Tool: tpu-slice-operator-deploy-image-\($version)"]},
    packages: ([
      {SPDXID: "SPDXRef-Image", name: "\($program)-image", versionInfo: $version,
       primaryPackagePurpose: "CONTAINER", supplier: "NOASSERTION", filesAnalyzed: false,
       downloadLocation: "NOASSERTION", copyrightText: "NOASSERTION", licenseConcluded: "NOASSERTION",
       licenseDeclared: "NOASSERTION", checksums: [{algorithm: "SHA256", checksumValue: $digest}],
       externalRefs: [{
         referenceCategory: "PACKAGE-MANAGER", referenceType: "purl",
         referenceLocator: ("pkg:oci/\($program)@sha256%3A\($digest)"
                            + "?arch=\($architecture)&tag=\($version | @uri)")}]},
      {SPDXID: $operator, name: $program, versionInfo: $version, primaryPackagePurpose: "APPLICATION",
       supplier: "NOASSERTION", filesAnalyzed: false, downloadLocation: "NOASSERTION", copyrightText: "NOASSERTION",
       licenseConcluded: "Apache-2.0", licenseDeclared: "Apache-2.0",
       checksums: [{algorithm: "SHA256", checksumValue: $binary}],
       externalRefs: [{referenceCategory: "PACKAGE-MANAGER", referenceType: "purl",
                       referenceLocator: "pkg:generic/\($program)@\($version | @uri)"}]}
    ] + ($debian | map(package))),
    relationships: ([
      relation("SPDXRef-DOCUMENT"; "DESCRIBES"; "SPDXRef-Image"),
      relation("SPDXRef-Image"; "CONTAINS"; $operator)
    ] + ($debian | map(
      if .content == "compiled" then relation($operator; "STATIC_LINK"; .name | id)
      else relation("SPDXRef-Image"; "CONTAINS"; .name | id) end)))
  }'

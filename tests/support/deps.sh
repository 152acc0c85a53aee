#!/usr/bin/env bash
# Installs missing Debian packages: those needed to build and test this project, and those named as arguments.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache mold
  libcpprest-dev libssl-dev zlib1g-dev            # HTTP client, TLS, gzip
  nlohmann-json3-dev libsimdjson-dev libyaml-cpp-dev
  libspdlog-dev libfmt-dev prometheus-cpp-dev libcli11-dev libre2-dev
  libcctz-dev tzdata                              # time zones of cron schedules
  libgtest-dev libgmock-dev jq curl ca-certificates
  iproute2 python3-venv                           # Ray from PyPI, in network namespaces
  "$@"
)
# The demo and the end-to-end tests use kubectl, in any version.
command -v kubectl >/dev/null || packages+=(kubernetes-client)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "installing: ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "error: packages are missing, this user is not root, and sudo is not installed. Ask an administrator to run:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
if ! command -v apt-get >/dev/null; then
  echo "error: apt-get is not installed. Install the equivalents of: ${missing[*]}" >&2
  exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update -q &&
       "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "error: apt-get could not install: ${missing[*]}" >&2
  exit 1
fi

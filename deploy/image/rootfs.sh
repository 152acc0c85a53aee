#!/usr/bin/env bash
# Makes the root directory of the image from a program of this project and the installed Debian packages. deploy/image/build.sh
# and deploy/Dockerfile both run it, so both images have the same files.
#
#   rootfs.sh BINARY ROOT [NAME]    NAME: of the program in the image, by default tpu-slice-operator
set -euo pipefail
export LC_ALL=C
umask 022

fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

[ $# -eq 2 ] || [ $# -eq 3 ] || fail "usage: rootfs.sh BINARY ROOT [NAME]"
binary=$1 root=$2 program=${3:-tpu-slice-operator}
[ -x "$binary" ] || fail "$binary: no such program"
[ ! -e "$root" ] || fail "$root: exists"
declare -A packages

# package_of FILE: the Debian package that FILE belongs to. Since /lib is a link to /usr/lib, packages list either path.
package_of() {
  local real package
  real=$(realpath "$1")
  package=$(dpkg-query -S "$1" "/usr$1" "$real" "${real#/usr}" 2>/dev/null | grep -v '^diversion ' | head -n 1) || true
  [ -n "$package" ] || fail "$1: belongs to no Debian package, so the image could not be built again elsewhere"
  printf '%s\n' "${package%%: *}"
}

# libraries FILE: the dynamic loader and all shared libraries that the loader opens for FILE, as paths.
libraries() {
  local list
  list=$(ldd "$1") || fail "$1: ldd: $list"
  ! grep 'not found' <<<"$list" >&2 || fail "$1: shared libraries are missing"
  awk '$2 == "=>" { print $3 } $1 ~ /^\// { print $1 }' <<<"$list" | sort -u
}

# add_library FILE: copies the file under the name by which programs look it up.
add_library() {
  local target
  target=$(realpath "$(dirname "$1")")/$(basename "$1")
  install -D -m 644 "$(realpath "$1")" "$root$target"
  packages[$(package_of "$1")]=
}

# add_loader FILE: the dynamic loader is a program, and its path in the binary may be a link.
add_loader() {
  local real link
  real=$(realpath "$1")
  link=$(realpath "$(dirname "$1")")/$(basename "$1")
  install -D -m 755 "$real" "$root$real"
  [ "$link" = "$real" ] || { install -d "$root$(dirname "$link")" && ln -s "$real" "$root$link"; }
  packages[$(package_of "$1")]=
}

add_binary() {
  local loader library
  loader=$(readelf -l "$binary" 2>/dev/null | sed -n 's/.*Requesting program interpreter: \(.*\)]/\1/p') || true
  [ -n "$loader" ] || fail "$binary: not a dynamically linked program"
  install -D -m 755 "$binary" "$root/usr/local/bin/$program"
  strip "$root/usr/local/bin/$program"
  add_loader "$loader"
  while read -r library; do
    [ "$(realpath "$library")" = "$(realpath "$loader")" ] || add_library "$library"
  done <<<"$(libraries "$binary")"
}

# As in Debian, /lib and /lib64 are links.
add_links() {
  local folder
  for folder in lib lib64; do
    [ ! -d "$root/usr/$folder" ] || ln -s "usr/$folder" "$root/$folder"
  done
}

# The certificates of the package; /etc/ssl/certs of this machine may have others. OpenSSL looks for cert.pem.
add_certificates() {
  local certificates=(/usr/share/ca-certificates/mozilla/*.crt)
  [ -f "${certificates[0]}" ] || fail "Debian package ca-certificates is not installed"
  install -d "$root/etc/ssl/certs" "$root/usr/lib/ssl"
  cat "${certificates[@]}" >"$root/etc/ssl/certs/ca-certificates.crt"
  ln -s /etc/ssl/certs "$root/usr/lib/ssl/certs"
  ln -s /etc/ssl/certs/ca-certificates.crt "$root/usr/lib/ssl/cert.pem"
  packages[ca-certificates]=
}

# The database of time zones, without its copies and without tables that no program reads.
add_time_zones() {
  local zones=/usr/share/zoneinfo
  [ -f $zones/Europe/Berlin ] || fail "Debian package tzdata is not installed"
  install -d "$root$zones"
  (cd $zones && find . \( -path ./posix -o -path ./right -o -name localtime -o -name posixrules -o -name '*.*' ! -name . \) -prune -o \
    \( -type f -o -type l \) -print0 | sort -z | tar --null -T - -cf -) | tar -C "$root$zones" --no-same-owner -xf -
  find "$root$zones" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
  packages[tzdata]=
}

add_users() {
  printf '%s\n' 'root:x:0:0:root:/:/sbin/nologin' 'nonroot:x:65532:65532:nonroot:/:/sbin/nologin' >"$root/etc/passwd"
  printf '%s\n' 'root:x:0:' 'nonroot:x:65532:' >"$root/etc/group"
  printf '%s\n' 'passwd: files' 'group: files' 'hosts: files dns' >"$root/etc/nsswitch.conf"
}

record='Package: ${Package}\nStatus: install ok installed\nMaintainer: ${Maintainer}\nArchitecture: ${Architecture}\n'
record+='Source: ${source:Package} (${source:Version})\nVersion: ${Version}\n'

# Scanners read /etc/os-release and /var/lib/dpkg/status.d to find the packages and their versions.
add_package_records() {
  local package name
  install -D -m 644 /usr/lib/os-release "$root/usr/lib/os-release"
  ln -s ../usr/lib/os-release "$root/etc/os-release"
  packages[base-files]=
  install -d "$root/var/lib/dpkg/status.d"
  for package in "${!packages[@]}"; do
    name=${package%%:*}
    dpkg-query -W -f="$record" "$package" >"$root/var/lib/dpkg/status.d/$name"
    add_copyright "$name"
  done
}

add_copyright() {
  install -D -m 644 "$(realpath "/usr/share/doc/$1/copyright")" "$root/usr/share/doc/$1/copyright"
}

install -d "$root"
add_binary
add_links
add_certificates
add_time_zones
add_users
add_package_records
here=$(dirname "$(realpath "$0")")
for package in $("$here/header_libraries.sh"); do add_copyright "$package"; done
install -D -m 644 "$here/../../LICENSE" "$root/usr/share/doc/$program/copyright"

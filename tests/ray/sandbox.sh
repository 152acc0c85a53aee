#!/usr/bin/env bash
# sandbox.sh DIR ADDRESS CHIPS: runs one pod in namespaces of its own, as a container runtime would: the init containers in
# DIR one after the other, then the containers. The caller gives it the network interface eth0.
set -euo pipefail
dir=$1 address=$2 chips=$3

hostname "$(cat "$dir/hostname")"
# All names are in /etc/hosts. Without a name server, other queries fail at once: gRPC also asks for IPv6 addresses.
mount --bind "$dir/hosts" /etc/hosts
: >"$dir/resolv.conf"
mount --bind "$dir/resolv.conf" "$(readlink -f /etc/resolv.conf)"

# Ray keeps its sessions in /tmp/ray and its objects in /dev/shm.
mkdir -p /tmp/ray
mount -t tmpfs tmpfs /tmp/ray
devices=$(mktemp -d)
mount -t tmpfs tmpfs "$devices"
for device in null zero full random urandom tty; do
  touch "$devices/$device"
  mount --bind "/dev/$device" "$devices/$device"
done
mkdir "$devices/shm"
mount -t tmpfs tmpfs "$devices/shm"
ln -s /proc/self/fd "$devices/fd"
# Ray counts TPU chips by their device files.
for ((chip = 0; chip < chips; ++chip)); do touch "$devices/accel$chip"; done
mount --move "$devices" /dev

if [ -d "$dir/serviceaccount" ]; then
  mount -t tmpfs tmpfs /run
  mkdir -p /run/secrets/kubernetes.io
  cp -r "$dir/serviceaccount" /run/secrets/kubernetes.io/
fi

until ip link show eth0 >/dev/null 2>&1; do read -rt 0.05 <> <(:) || true; done
ip link set lo up
ip address add "$address/8" dev eth0
ip link set eth0 up
echo ready >"$dir/ready"

for script in "$dir"/init-*.sh; do
  [ -e "$script" ] || continue
  bash "$script"
done
# With the restart policy Always, a container whose process ends is started again.
run_container() {
  local status
  while status=0; bash "$1" || status=$?; [ -e "$dir/restart-always" ]; do sleep 1; done
  return "$status"
}
for script in "$dir"/container-*.sh; do run_container "$script" & done
wait -n

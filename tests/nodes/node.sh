#!/usr/bin/env bash
# node.sh: the first process of a node (isolate.sh). It runs containerd, the kubelet, kube-proxy and the device plugin until it
# is killed, and restarts what exits, as systemd does.
#
#   node.sh DIRECTORY
#
# DIRECTORY keeps what outlives the node, and has `settings`: the shell variables that RealNode::write_settings() sets. All
# programs use their standard paths, which are the node's own.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
directory=$1
source "$directory/settings"

mounts() {
  mount --make-rshared / # as the kubelet and containerd expect
  mkdir -p "$directory"/{lib,log,machine}
  [ -z "$DISK" ] || mount -t tmpfs -o "size=$DISK" disk "$directory/lib"
  mount --bind "$directory/lib" /var/lib
  mount --bind "$directory/log" /var/log
  mount -t tmpfs run /run
  mkdir -p /run/cni /run/node /var/lib/{containerd,kubelet}
  ln -s "$PROGRAMS" /run/cni/bin
  ln -s "$PROXY_KUBECONFIG" /run/node/proxy.kubeconfig
}

# cover FILE TEXT: the node reads TEXT in FILE, which is the machine's.
cover() {
  local copy=$directory/machine/${1//\//_}
  printf '%s\n' "$2" >"$copy"
  mount --bind "$copy" "$1"
}

# The size that the kubelet reports: the machine's CPUs as those of so many NUMA nodes that their number is right. The kubelet
# writes their ids into cpusets, so they have to exist.
machine() {
  local group groups=$((CPUS / $(nproc)))
  [ "$groups" -gt 0 ] || groups=1
  for ((group = 0; group < groups; ++group)); do
    mkdir -p "$directory/machine/node/node$group"
    ln -sfn -t "$directory/machine/node/node$group" /sys/devices/system/cpu/cpu[0-9]*
    echo "Node $group MemTotal: $((MEMORY_KIB / groups)) kB" >"$directory/machine/node/node$group/meminfo"
  done
  mount --bind "$directory/machine/node" /sys/devices/system/node
  cover /proc/meminfo "$(sed "s/^\(MemTotal\|MemFree\|MemAvailable\): .*/\1: $MEMORY_KIB kB/" /proc/meminfo)"
  # The kubelet sets these, for the whole machine.
  cover /proc/sys/vm/overcommit_memory 1
  cover /proc/sys/vm/panic_on_oom 0
  cover /proc/sys/kernel/panic 10
  cover /proc/sys/kernel/panic_on_oops 1
  cover /proc/sys/kernel/keys/root_maxkeys 1000000
  cover /proc/sys/kernel/keys/root_maxbytes 25000000
}

network() {
  # The kernel may still be removing the interface of a node that was killed.
  nsenter --net="/proc/self/fd/$TPUSLICE_OUTER_NETWORK" bash -ec "
    ip link delete node$INDEX 2>/dev/null || true
    ip link add node$INDEX type veth peer name eth0 netns 1
    ip link set node$INDEX master nodes up
    ip route replace $POD_NETWORK via $ADDRESS"
  ip address add "$ADDRESS/16" dev eth0
  ip link set eth0 up
  ip route add default via 10.0.0.1
  sysctl -qw net.ipv4.ip_forward=1
  mkdir -p /run/cni/net.d
  sed "s|POD_NETWORK|$POD_NETWORK|" "$here/config/network.conflist" >/run/cni/net.d/10-node.conflist
}

# The images of the store: its layers are shared, its database is copied. See images/build.sh.
images() {
  [ -n "$IMAGES" ] && [ ! -e /var/lib/containerd/io.containerd.metadata.v1.bolt ] || return 0
  (
    flock --shared 9
    cd "$IMAGES"
    cp -r --parents io.containerd.metadata.v1.bolt io.containerd.snapshotter.v1.overlayfs/metadata.db /var/lib/containerd
    cp -r --symbolic-link "$IMAGES/io.containerd.content.v1.content" /var/lib/containerd/
    mkdir /var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots
    ln -s "$IMAGES"/io.containerd.snapshotter.v1.overlayfs/snapshots/* \
      /var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/
  ) 9<"$IMAGES/.lock"
}

# keep PROGRAM [ARGUMENT...]: runs a program of the node for ever.
keep() {
  while true; do
    "$PROGRAMS/$1" "${@:2}" >>"/var/log/$1.log" 2>&1 || sleep 1
  done
}

mounts
machine
network
images
export PATH=$PROGRAMS:$PATH
keep containerd --config "$here/config/containerd.toml" &
until [ -S /run/containerd/containerd.sock ]; do sleep 0.05; done
keep kubelet --config "$here/config/kubelet.yaml" --kubeconfig "$KUBECONFIG" --hostname-override "$NAME" --node-ip "$ADDRESS" &
keep kube-proxy --config "$here/config/kube-proxy.yaml" --hostname-override "$NAME" &
[ "$CHIPS" -eq 0 ] || keep device_plugin --accelerator "$ACCELERATOR" --topology "$TOPOLOGY" --chips "$CHIPS" \
  --address "$ADDRESS" --unhealthy "$directory/unhealthy" &
wait

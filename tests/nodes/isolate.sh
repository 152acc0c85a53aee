#!/usr/bin/env bash
# isolate.sh: runs a program in namespaces of its own (network, mounts, processes, host name, cgroups), which end with it.
#
#   isolate.sh NAME PROGRAM [ARGUMENT...]
#
# NAME becomes the host name, and the name of a new cgroup below the caller's in each hierarchy, which is / for the program.
# The program is the first process: with it, or with this script, the kernel kills all processes inside, and removes mounts
# and interfaces. The empty cgroups remain. TPUSLICE_OUTER_NETWORK is an open file of the caller's network namespace.
set -euo pipefail

# cgroups: prints a line "NAME DIRECTORY" for each hierarchy that this process is in.
cgroups() {
  local id name path
  while IFS=: read -r id name path; do
    name=${name#name=}
    echo "${name:-unified} /sys/fs/cgroup/${name:-unified}${path%/}"
  done </proc/self/cgroup
}

if [ "$1" != --inside ]; then
  while read -r name directory; do
    mkdir -p "$directory/$1" # a node that boots again has one
    # A new cpuset is empty, and no process can enter it.
    for file in cpuset.cpus cpuset.mems; do
      [ "$name" != cpuset ] || cat "$directory/$file" >"$directory/$1/$file"
    done
    echo 0 >"$directory/$1/cgroup.procs"
  done < <(cgroups)
  exec {TPUSLICE_OUTER_NETWORK}</proc/self/ns/net
  export TPUSLICE_OUTER_NETWORK
  exec unshare --net --mount --pid --uts --cgroup --fork --kill-child --mount-proc "$(realpath "$0")" --inside "$@"
fi

hostname "$2"
hierarchies=$(cgroups) # paths are those of the new cgroup namespace
umount -R /sys/fs/cgroup
mount -t tmpfs cgroup /sys/fs/cgroup
while read -r name directory; do
  mkdir "$directory"
  case $name in
    unified) mount -t cgroup2 cgroup "$directory" ;;
    systemd) mount -t cgroup -o "none,name=$name" cgroup "$directory" ;;
    *) mount -t cgroup -o "$name" cgroup "$directory" ;;
  esac
done <<<"$hierarchies"
ip link set lo up
exec "${@:3}"

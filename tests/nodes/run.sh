#!/usr/bin/env bash
# run.sh: runs a program in a world of its own, where it may start a NodeCluster, and leaves nothing behind.
#
#   run.sh PROGRAM [ARGUMENT...]
#
# The program gets TPUSLICE_NODES_DIR, a directory that is removed with it unless it contains a file `keep`. Several can run at
# a time: their addresses are the same, in different network namespaces. Exit status: that of the program; 77 without root.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
[ "$(id -u)" -eq 0 ] || { echo "nodes: namespaces and mounts need root" >&2; exit 77; }

TPUSLICE_NODES_DIR=$(mktemp -d -t tpu-slice-nodes.XXXXXX)
export TPUSLICE_NODES_DIR
# Holds the other end of a pipe that all processes of the cluster have, so it also cleans up after kill -9 of this script.
exec {alive}> >(exec setsid "$here/clean_up.sh" "$TPUSLICE_NODES_DIR" >/dev/null 2>&1)
setpriv --pdeathsig KILL "$here/isolate.sh" "${TPUSLICE_NODES_DIR##*/}" "$here/cluster.sh" "$@" &
trap 'kill -KILL $!' INT TERM HUP
wait $!

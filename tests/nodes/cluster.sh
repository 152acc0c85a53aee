#!/usr/bin/env bash
# cluster.sh: the first process of a cluster (run.sh). It makes the network of the nodes, runs a program that starts them, and
# waits for orphans.
#
#   cluster.sh PROGRAM [ARGUMENT...]
set -euo pipefail
mount --make-rprivate /
ip link add nodes type bridge
ip address add 10.0.0.1/16 dev nodes # nodes have 10.0.x.y, pods 10.64.x.y
ip link set nodes up
sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.nodes.send_redirects=0
# A node has seven of the 128 inotify instances that Linux allows all nodes of the machine together. The limit stays raised.
[ "$(sysctl -n fs.inotify.max_user_instances)" -ge 8192 ] || sysctl -qw fs.inotify.max_user_instances=8192
trap : INT TERM # the first process of a namespace ignores others
"$@" &
wait $!

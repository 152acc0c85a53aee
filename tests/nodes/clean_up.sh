#!/usr/bin/env bash
# clean_up.sh: waits until its stdin ends, when the processes of a cluster do, and removes what they leave in files; see run.sh.
#
#   clean_up.sh DIRECTORY
set -uo pipefail
trap '' INT TERM HUP
name=${1##*/}
cat # until the end

# The kernel may still be at work on the last processes.
for _ in {1..100}; do
  mapfile -t left < <(find /sys/fs/cgroup -depth -type d -path "*/$name*" 2>/dev/null)
  [ ${#left[@]} -gt 0 ] || break
  rmdir "${left[@]}" || sleep 0.1
done
[ -e "$1/keep" ] || rm -rf --one-file-system "$1"

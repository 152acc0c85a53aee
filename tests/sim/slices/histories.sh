#!/usr/bin/env bash
# usage: histories.sh <sim_slice_histories_test> <histories> <processes>
# Runs the histories of seeds 1 to <histories>, divided among the processes. Exit status 1 if one of them fails.
set -euo pipefail
program=$1 histories=$2 processes=$3
share=$(( (histories + processes - 1) / processes ))
pids=()
for ((i = 0; i < processes; i++)); do
  TPUSLICE_HISTORIES=$share TPUSLICE_HISTORY_FROM=$((i * share + 1)) "$program" --gtest_brief=1 &
  pids+=($!)
done
failed=0
for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
exit $failed

#!/usr/bin/env bash
# usage: run.sh <directory of the fuzzers> <seconds for each> [<fuzzers>]
# Runs each fuzzer on its corpus (tests/fuzz/corpus) and the inputs that earlier runs found. Saves inputs that crash a
# fuzzer and prints their paths.
set -euo pipefail
bin=$1
seconds=$2
here=$(cd "$(dirname "$0")" && pwd)
state=$(dirname "$bin")/corpus
export UBSAN_OPTIONS=print_stacktrace=1

failed=0
for fuzzer in ${3:-admission values watch}; do
  mkdir -p "$state/$fuzzer" "$state/findings"
  log=$state/$fuzzer.log
  options=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$state/findings/$fuzzer-" -print_final_stats=1)
  case $fuzzer in
    admission) options+=(-max_len=16384) ;;
    values) options+=(-max_len=2048 -dict="$here/values.dict") ;;
    watch) options+=(-max_len=16384 -dict="$here/watch.dict") ;;
  esac
  if "$bin/${fuzzer}_fuzzer" "${options[@]}" "$state/$fuzzer" "$here/corpus/$fuzzer" >"$log" 2>&1; then
    finding=none
  else
    finding="see $log"
    failed=1
    grep -E 'SUMMARY|ERROR|check failed|Test unit written' "$log" >&2 || tail -n 20 "$log" >&2
  fi
  executions=$(awk '/^stat::number_of_executed_units/ {print $2}' "$log")
  coverage=$(awk 'match($0, /cov: [0-9]+/) {last = substr($0, RSTART + 5, RLENGTH - 5)} END {print last}' "$log")
  features=$(awk 'match($0, /ft: [0-9]+/) {last = substr($0, RSTART + 4, RLENGTH - 4)} END {print last}' "$log")
  memory=$(awk '/^stat::peak_rss_mb/ {print $2}' "$log")
  echo "$fuzzer: ${executions:-?} executions in $seconds s, $coverage edges covered, $features features, peak memory ${memory:-?} MiB, findings: $finding"
done
exit $failed

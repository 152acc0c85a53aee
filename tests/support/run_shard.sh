#!/usr/bin/env bash
# run_shard.sh INDEX COUNT NAME PROGRAM: runs one of COUNT shards of a GoogleTest program and writes its results as
# NAME.json into $TPUSLICE_TEST_RESULTS, if that is set.
set -euo pipefail

export GTEST_SHARD_INDEX=$1 GTEST_TOTAL_SHARDS=$2
[ -z "${TPUSLICE_TEST_RESULTS:-}" ] || export GTEST_OUTPUT="json:$TPUSLICE_TEST_RESULTS/$3.json"
exec "$4"

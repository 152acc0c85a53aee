#!/usr/bin/env bash
# test_all.sh: `make test` with all random worlds and histories, then the tests that it leaves out, also if some of it have failed.
# The last line is "N passed, N failed" of all.
set -uo pipefail
TPUSLICE_TEST_COUNTS=$(mktemp)
export TPUSLICE_TEST_COUNTS
trap 'rm -f "$TPUSLICE_TEST_COUNTS"' EXIT
TPUSLICE_ALL=1 make --no-print-directory test || [ -s "$TPUSLICE_TEST_COUNTS" ] || exit 1
make --no-print-directory test-rest

#!/usr/bin/env bash
# run_tests.sh BUILD_DIR [ctest options]: runs the tests and ends with the plain line "N passed, N failed".
#
# A GoogleTest program counts each of its cases (from the JSON it writes); any other ctest entry counts as one. A program
# that dies counts as one failure on top of the cases it had reported. Skipped cases count as failures: a test that
# could not run has shown nothing.
set -uo pipefail

build=$1
shift
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

GTEST_OUTPUT="json:$results/" ctest --test-dir "$build" -j 2 --output-on-failure --no-tests=error \
  --output-junit "$results/ctest.xml" "$@"
status=$?

count() { # count FIELD FILE: a top-level number of a GoogleTest result
  awk -v field="\"$1\":" '$1 == field { gsub(/[^0-9]/, "", $2); print $2; exit }' "$2"
}
passed=0
failed=0
while read -r name outcome; do
  file="$results/$name.json"
  if [ -s "$file" ]; then
    tests=$(count tests "$file")
    failures=$(($(count failures "$file") + $(count errors "$file") + $(grep -c '"result": "SKIPPED"' "$file")))
    passed=$((passed + tests - failures))
    failed=$((failed + failures))
    [ "$outcome" != run ] && [ "$failures" -eq 0 ] && failed=$((failed + 1))
  elif [ "$outcome" = run ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
done < <(sed -n 's/.*<testcase name="\([^"]*\)".*status="\([a-z]*\)".*/\1 \2/p' "$results/ctest.xml")

[ "$status" -ne 0 ] && [ "$failed" -eq 0 ] && failed=1
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

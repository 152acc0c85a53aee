#!/usr/bin/env bash
# run_tests.sh BUILD_DIR [ctest options]: runs the tests; its last line is "N passed, N failed".
#
# A GoogleTest program counts each of its cases (from the JSON it writes); any other ctest entry counts as one. A program
# that crashes counts as one more failure. Failed cases are listed with their messages. If tests were skipped because
# programs are missing, the line before the last says how many, and names the programs, Kueue, Helm and what else is
# missing; with TPUSLICE_SKIPPED=fail that is a failure.
#
# There are six slots for each core, and each ctest entry takes as many as its PROCESSORS property says: see SLOTS in
# cmake/tpuslice.cmake.
#
# TPUSLICE_TEST_COUNTS: a file with the counts of tests that were run before. Their sum with ours is printed, and replaces them.
#
# GOGC: the programs of the control plane and kubectl use less CPU for garbage collection, and more memory.
set -uo pipefail

build=$1
shift
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
export GOGC=${GOGC:-400}

GTEST_OUTPUT="json:$results/" TPUSLICE_TEST_RESULTS=$results ctest --test-dir "$build" -j $((6 * $(nproc))) --output-on-failure --no-tests=error \
  --output-junit "$results/ctest.xml" "$@"
status=$?

count() { # count FIELD FILE: a top-level number of a GoogleTest result
  awk -v field="\"$1\":" '$1 == field { gsub(/[^0-9]/, "", $2); print $2; exit }' "$2"
}
outcomes() { # "name outcome" of every ctest entry; a shell test that ended with its SKIP_RETURN_CODE is "skipped"
  awk -F '"' '/<testcase name=/ { if (name) print name, outcome; name = $2; outcome = $(NF - 1) }
              /<skipped message="SKIP_RETURN_CODE/ { outcome = "skipped" }
              END { if (name) print name, outcome }' "$results/ctest.xml"
}
reasons() { # one line for each thing that is missing; shell tests print "skipped: <reason>"
  local assets
  for assets in controlplane kueue helm nodes; do "$(dirname "$0")/../$assets/assets.sh" 2>&1 >/dev/null; done
  sed -nE 's/<\/system-out>//; s/^(.*<system-out>)?skipped: //p' "$results/ctest.xml" | grep -v 'of the control plane' | sort -u
}
failures() { # "  case: message" of each failed case of a GoogleTest result
  awk -F '"' '$2 == "name" { name = $4 }
              $2 == "classname" { name = $4 "." name }
              $2 == "failure" { message = $0; sub(/^ *"failure": "/, "", message); sub(/",?$/, "", message)
                                gsub(/\\n/, " ", message); gsub(/\\/, "", message); gsub(/\\/, "", name)
                                print "  " name ": " substr(message, 1, 600) }' "$1"
}
passed=0
failed=0
skipped=0
failed_tests=
while read -r name outcome; do
  file="$results/$name.json"
  if [ -s "$file" ]; then
    tests=$(count tests "$file")
    failures=$(($(count failures "$file") + $(count errors "$file")))
    skips=$(grep -c '"result": "SKIPPED"' "$file")
    passed=$((passed + tests - failures - skips))
    failed=$((failed + failures))
    skipped=$((skipped + skips))
    [ "$outcome" != run ] && [ "$failures" -eq 0 ] && failed=$((failed + 1))
    [ "$outcome" != run ] && failed_tests+="$name"$'\n'"$(failures "$file")"$'\n'
  elif [ "$outcome" = run ]; then
    passed=$((passed + 1))
  elif [ "$outcome" = skipped ]; then
    skipped=$((skipped + 1))
  else
    failed=$((failed + 1))
    failed_tests+="$name"$'\n'
  fi
done < <(outcomes)

[ "$status" -ne 0 ] && [ "$failed" -eq 0 ] && failed=1
[ -z "$failed_tests" ] || printf 'Failed, with the message of each case:\n%s' "$failed_tests"
if [ "$skipped" -gt 0 ]; then
  missing=$(reasons | paste -sd '|' | sed 's/|/; /g')
  echo "$skipped skipped: ${missing:-see their output}"
fi
if [ -n "${TPUSLICE_TEST_COUNTS:-}" ]; then
  read -r passed_before failed_before skipped_before <"$TPUSLICE_TEST_COUNTS" || passed_before=0 failed_before=0 skipped_before=0
  [ "$passed_before" -eq 0 ] || echo "$passed passed, $failed failed, and before that $passed_before and $failed_before; together:"
  passed=$((passed + passed_before)) failed=$((failed + failed_before)) skipped=$((skipped + skipped_before))
  echo "$passed $failed $skipped" >"$TPUSLICE_TEST_COUNTS"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ] && { [ "$skipped" -eq 0 ] || [ "${TPUSLICE_SKIPPED:-}" != fail ]; }

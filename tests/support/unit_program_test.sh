#!/usr/bin/env bash
# Each source file outside of tests/ has a unit test program, and of many files the program is that of the most.
set -euo pipefail
cd "$(dirname "$0")/../.."
equal() { # equal PROGRAM FILE...
  local found
  found=$(printf '%s\n' "${@:2}" | tests/support/unit_program.sh)
  [ "$found" = "$1" ] || { echo "FAILED: the program of ${*:2} is '$found', not '$1'" >&2; exit 1; }
}

equal unit_tpu_test tpu/catalog.h
equal unit_controllers_raycluster_test controllers/raycluster/pods/any.cpp
equal unit_controllers_raycluster_rules_test controllers/raycluster/rules/any.cpp
equal unit_api_base_test tests/unit/api/base/any_test.cpp
equal unit_webhook_test api/base/any.cpp webhook/any.cpp tests/laws/any.cpp webhook/any.h
equal '' tests/laws/any.cpp any.cpp
while IFS= read -r folder; do
  [ -n "$(echo "$folder/any.cpp" | tests/support/unit_program.sh)" ] || { echo "FAILED: $folder has no unit test program" >&2; exit 1; }
done < <(git ls-files '*.cpp' ':!tests' ':!cmake' | sed 's|/[^/]*$||' | sort -u)
echo "ok: each folder has a unit test program"

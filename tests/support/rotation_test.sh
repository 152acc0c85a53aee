#!/usr/bin/env bash
# The ten numbers of rotation.sh together run every long check on everything, and each number runs something.
set -euo pipefail
cd "$(dirname "$0")/../.."
fail() { echo "FAILED: $1" >&2; exit 1; }

all=
for number in 0 1 2 3 4 5 6 7 8 9; do
  commands=$(tests/support/rotation.sh --list $number)
  [ -n "$commands" ] || fail "number $number runs nothing"
  all+=$commands$'\n'
done
# only CHECK: the names that the commands of a check have, sorted.
only() { sed -n "s/^make $1 ONLY='\(.*\)'$/\1/p" <<<"$all" | tr ' ' '\n' | sort; }
equal() { diff <(only "$1") <(sort) || fail "$1 does not run each once"; }

equal check-tidy < <(git ls-files '*.cpp' | grep -v '^tests/')
equal mutants < <(basename -s .patch tests/laws/mutants/*.patch)
programs=$(grep -rhoE 'tpuslice_test\((unit|laws|sim)_[a-z0-9_]+' tests --include=CMakeLists.txt | sed 's/.*(//'
  find tests/fuzz -name '*_fuzzer.cpp' | sed 's|.*/\(.*\)_fuzzer.cpp|fuzz_\1_test|')
equal asan <<<"$programs"
equal tsan <<<"$programs"
equal check-bench < <(make -pn help | sed -n 's/^BENCHMARKS := //p' | tr ' ' '\n')
for target in tpuslice_base tpuslice_webhook tpu-slice-operator tpu-slice-sim; do
  only check-includes | grep -qx "$target" || fail "check-includes does not build $target"
done
echo "ok: ten numbers run all"

output=$(ROTATION_SECONDS=0 tests/support/rotation.sh 9)
[ "$(grep -c '^left: make' <<<"$output")" -eq "$(tests/support/rotation.sh --list 9 | wc -l)" ] || fail "$output"
echo "ok: nothing is started after the limit, and what is left is printed"
[ "$(ROTATION_CHECKS=check-tidy tests/support/rotation.sh --list 9 | cut -d ' ' -f 2 | sort -u)" = check-tidy ] || fail "other checks than chosen"
echo "ok: ROTATION_CHECKS chooses"
tests/support/rotation.sh 10 2>/dev/null && fail "number 10 is accepted"
number=$(($(git log --first-parent --oneline | wc -l) % 10))
[ "$(tests/support/rotation.sh --list)" = "$(tests/support/rotation.sh --list $number)" ] || fail "no number is not $number"
echo "ok: other numbers are refused, no number is that of the commit by first parent"

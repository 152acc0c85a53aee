#!/usr/bin/env bash
# Mutation tests of the planners: applies one patch of mutants/ after another to a copy of the sources, builds the test
# programs for the patched folder and expects one of them to fail. Run as `make mutants`; a mutant that no program detects
# fails the run.
#
#   mutants.sh DIR [NAME...]      DIR: folder of the copy and its build; kept for the next run
set -euo pipefail
cd "$(dirname "$0")/../.."
jobs=${JOBS:-2}
patches=$PWD/tests/laws/mutants
dir=$(mkdir -p "$1" && cd "$1" && pwd)
shift
names=("$@")
[ ${#names[@]} -gt 0 ] || mapfile -t names < <(cd "$patches" && ls ./*.patch | sed 's|^\./||; s|\.patch$||')

# Copy only changed files, so that only these are compiled again.
mkdir -p "$dir/src"
while IFS= read -r file; do
  [ ! -L "$file" ] || { mkdir -p "$dir/src/$(dirname "$file")" && cp -PfT "$file" "$dir/src/$file"; continue; }
  cmp -s "$file" "$dir/src/$file" || { mkdir -p "$dir/src/$(dirname "$file")" && cp "$file" "$dir/src/$file"; }
done < <(git ls-files --cached --others --exclude-standard)
cd "$dir/src"
for name in "${names[@]}"; do # exactly where it was meant
  patch --dry-run --quiet --fuzz=0 -p0 <"$patches/$name.patch" >/dev/null || { echo "mutants: $name does not apply: update the patch" >&2; exit 1; }
done

# The test programs that must detect a mutant.
guards() {
  case $(sed -n 's/^+++ //p' "$patches/$1.patch") in
    controllers/plan/*) echo unit_controllers_plan_test laws_raycluster_test laws_jobset_test ;;
    controllers/placement/* | controllers/slice/*) echo unit_controllers_placement_test unit_controllers_slice_test sim_slice_histories_test ;;
    controllers/jobset/*) echo laws_jobset_test unit_controllers_jobset_test ;;
    controllers/disaggregatedset/*) echo laws_disaggregatedset_test unit_controllers_disaggregatedset_test ;;
    controllers/leaderworkerset/*) echo laws_leaderworkerset_test unit_controllers_leaderworkerset_test sim_leaderworkerset_test ;;
    controllers/rayjob/*) echo laws_rayjob_test unit_controllers_rayjob_test ;;
    controllers/raycronjob/*) echo laws_raycronjob_test unit_controllers_raycronjob_test unit_controllers_raycronjob_rules_test ;;
    controllers/rayservice/*) echo laws_rayservice_test unit_controllers_rayservice_test ;;
    *) echo laws_raycluster_test unit_controllers_raycluster_test ;;
  esac
}
build() { cmake --build "$dir/build" -j "$jobs" --target "$@" >"$dir/build.log" 2>&1; }
holds() { TPUSLICE_HISTORIES=300 timeout 900 "$dir/build/bin/$1" --gtest_fail_fast >"$dir/$1.log" 2>&1; }

mapfile -t all < <(for name in "${names[@]}"; do guards "$name"; done | tr ' ' '\n' | sort -u)
cmake -S . -B "$dir/build" -G Ninja -DCMAKE_BUILD_TYPE=Dev -DCMAKE_UNITY_BUILD=ON >"$dir/build.log"
build "${all[@]}" || { tail -n 20 "$dir/build.log"; echo "mutants: ${all[*]} do not build" >&2; exit 1; }
for program in "${all[@]}"; do
  holds "$program" || { tail -n 20 "$dir/$program.log"; echo "mutants: $program fails without a mutant" >&2; exit 1; }
done

killed=0 survived=0
for name in "${names[@]}"; do
  patch --quiet --no-backup-if-mismatch -p0 <"$patches/$name.patch"
  verdict=survived
  read -ra programs < <(guards "$name")
  for program in "${programs[@]}"; do
    build "$program" || { verdict="does not build"; break; }
    holds "$program" && continue
    [ $? -ne 124 ] || { verdict="killed: $program does not end"; break; } # of timeout
    killer=$(sed -n 's|^\[  FAILED  \] \([A-Za-z0-9_./]*\).*|\1|p' "$dir/$program.log" | head -n 1)
    verdict="killed by ${killer:-$program}"
    break
  done
  patch --quiet --no-backup-if-mismatch -p0 -R <"$patches/$name.patch"
  case $verdict in
    killed*) killed=$((killed + 1)) ;;
    *) survived=$((survived + 1)) ;;
  esac
  printf '%-50s %s\n' "$name" "$verdict"
done
echo "$killed killed, $survived survived"
[ "$survived" -eq 0 ]

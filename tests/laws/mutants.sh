#!/usr/bin/env bash
# Can the laws fail? Breaks a copy of the sources in one way after another (mutants/*.patch), builds the laws and expects
# a failure each time. Run as `make mutants`; a mutant that survives fails the run.
#
#   mutants.sh DIR [NAME...]      DIR: where the copy is made and built; it is kept for the next run
set -euo pipefail
cd "$(dirname "$0")/../.."
jobs=${JOBS:-2}
patches=$PWD/tests/laws/mutants
dir=$(mkdir -p "$1" && cd "$1" && pwd)
shift
names=("$@")
[ ${#names[@]} -gt 0 ] || mapfile -t names < <(cd "$patches" && ls ./*.patch | sed 's|^\./||; s|\.patch$||')

# Only what changed is copied, so that only that is compiled again.
mkdir -p "$dir/src"
while IFS= read -r file; do
  cmp -s "$file" "$dir/src/$file" || { mkdir -p "$dir/src/$(dirname "$file")" && cp "$file" "$dir/src/$file"; }
done < <(git ls-files --cached --others --exclude-standard)
cd "$dir/src"

build() { cmake --build "$dir/build" -j "$jobs" --target laws_raycluster_test >"$dir/build.log" 2>&1; }
laws() { timeout 300 "$dir/build/bin/laws_raycluster_test" --gtest_fail_fast >"$dir/laws.log" 2>&1; }

cmake -S . -B "$dir/build" -G Ninja -DCMAKE_BUILD_TYPE=Dev -DCMAKE_UNITY_BUILD=ON >"$dir/build.log"
build || { tail -n 20 "$dir/build.log"; echo "mutants: the laws do not build" >&2; exit 1; }
laws || { tail -n 20 "$dir/laws.log"; echo "mutants: the laws do not hold as it is" >&2; exit 1; }

killed=0 survived=0
for name in "${names[@]}"; do
  patch --quiet --no-backup-if-mismatch -p0 <"$patches/$name.patch" || { echo "FAILED   $name: does not apply, write it anew"; exit 1; }
  verdict=survived
  if ! build; then
    verdict="does not build"
  elif ! laws; then
    verdict="killed by $(sed -n 's/^\[  FAILED  \] \([A-Za-z.]*\) (.*/\1/p' "$dir/laws.log" | head -n 1)"
  fi
  patch --quiet --no-backup-if-mismatch -p0 -R <"$patches/$name.patch"
  case $verdict in
    killed*) killed=$((killed + 1)) ;;
    *) survived=$((survived + 1)) ;;
  esac
  printf '%-45s %s\n' "$name" "$verdict"
done
echo "$killed killed, $survived survived"
[ "$survived" -eq 0 ]

#!/usr/bin/env bash
# Runs a tenth of the checks that are too long for each commit, as far as the time allows; with the commands that are
# left each time, ten commits in a row run all of them. A merge is one.
#
#   rotation.sh [NUMBER]           NUMBER: 0 to 9; default: the number of commits, by first parent, modulo 10
#   rotation.sh --list [NUMBER]    prints the commands and runs none
#
# ROTATION_CHECKS limits it to these checks, as 'check-tidy|asan'.
#
# After ROTATION_SECONDS (420) no more commands are started, and those left are printed. Four rounds of ten commits start
# at the four quarters of the list, the next four rounds each one command further on. If a quarter fits, four rounds run
# all; if less fits, each command is the first once.
set -euo pipefail
cd "$(dirname "$0")/../.."
SECONDS=0
limit=${ROTATION_SECONDS:-420}
list=false
[ "${1:-}" != --list ] || { list=true; shift; }
commits=$(git rev-list --count --first-parent HEAD)
number=${1:-$((commits % 10))}
[[ $number =~ ^[0-9]$ ]] || { echo "rotation: $number is not a number from 0 to 9" >&2; exit 2; }

# What ONLY can name for a check, one a line.
names() {
  case $1 in
    check-tidy) git ls-files '*.cpp' ':!tests' ;;
    # Targets inside an if() are indented; the build of this check does not have them.
    check-includes) git grep -hoE '^tpuslice_(library|executable)\([a-z0-9_-]+' -- '*CMakeLists.txt' ':!tests' |
      sed -e 's/library(//' -e 's/.*(//' ;;
    check-bench) git grep -hoE '^tpuslice_executable\([a-z0-9_-]+' -- tests/bench tests/nodes/recovery | sed 's/.*(//' ;;
    asan | tsan)
      git grep -hoE 'tpuslice_test\((unit|laws|sim)_[a-z0-9_]+' -- tests | sed 's/.*(//'
      git grep -hoE '^tpuslice_fuzzer\([a-z]+' -- tests/fuzz | sed 's/.*(\(.*\)/fuzz_\1_test/' ;;
    # By patched file: neighbours are detected by the same test programs.
    mutants) grep '^+++ ' tests/laws/mutants/*.patch | sort -k 2 | sed 's|.*/\([a-z0-9-]*\)\.patch:.*|\1|' ;;
  esac
}

# part CHECK INDEX COUNT SIZE: lines "CHECK NAME..." with SIZE names each, of the part INDEX of COUNT.
part() {
  names "$1" | awk -v i="$2" -v n="$3" '{ name[NR] = $0 } END { for (k = 0; k < NR; ++k) if (int(k * n / NR) == i) print name[k + 1] }' |
    xargs -r -n "$4" echo "$1"
}
tenth() {
  case $1 in
    [0-3]) part asan "$1" 4 1 ;;
    [4-7]) part tsan $(($1 - 4)) 4 1 ;;
    8) part check-includes 0 1 4 ;;
    9) part check-bench 0 1 1 ;;
  esac
  part check-tidy "$1" 10 100
  part mutants "$1" 10 5
}
show() { printf "%smake %s ONLY='%s'\n" "$1" "${2%% *}" "${2#* }"; }

mapfile -t commands < <(tenth "$number" | grep -E "^(${ROTATION_CHECKS:-.*}) ")
round=$((commits / 10)) count=${#commands[@]}
first=$(((round % 4 * count / 4 + round / 4) % count))
commands=("${commands[@]:first}" "${commands[@]:0:first}")
failed=0 left=()
for command in "${commands[@]}"; do
  if $list; then
    show "" "$command"
  elif [ "$SECONDS" -ge "$limit" ]; then
    left+=("$command")
  else
    show "" "$command"
    make --no-print-directory "${command%% *}" ONLY="${command#* }" || { failed=$((failed + 1)); show "FAILED: " "$command"; }
  fi
done
for command in "${left[@]}"; do show "left: " "$command"; done
$list || echo "rotation $number: $((${#commands[@]} - ${#left[@]})) of ${#commands[@]} commands run, $failed failed"
[ "$failed" -eq 0 ]

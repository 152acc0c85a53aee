#!/usr/bin/env bash
# tidy.sh JOBS FILE.cpp...: clang-tidy on these files, as cmake --preset tidy compiles them: with up to seven neighbours of
# their target at once, which takes as long as three of them alone. Findings in the neighbours are reported, too.
set -euo pipefail
cd "$(dirname "$0")/../.."
jobs=$1
shift
for file in "$@"; do
  grep -rlF "#include \"$PWD/$file\"" build/tidy --include='unity_*.cxx' || echo "$file" # compiled alone
done | sort -u |
  xargs -r -P "$jobs" -n 1 clang-tidy-16 --quiet -p build/tidy --extra-arg=-Wno-unknown-warning-option

#!/usr/bin/env bash
# unit_program.sh <FILES: the unit test program of the folder that has most of these source files or of their tests.
#
# The program is the first one of tests/unit/<folder>, or of the nearest folder above that has one. Nothing is printed if
# no file belongs to a program.
set -euo pipefail
cd "$(dirname "$0")/../.."
while IFS= read -r file; do
  folder=tests/unit/$(dirname "${file#tests/unit/}")
  while [[ $folder == tests/unit/* && ! -f $folder/CMakeLists.txt ]]; do folder=$(dirname "$folder"); done
  [[ $folder != tests/unit/* ]] || sed -n 's/^tpuslice_test(//p' "$folder/CMakeLists.txt" | sed -n 1p
done | sort | uniq -c | sort -rn | sed -n '1s/.* //p'

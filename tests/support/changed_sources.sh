#!/usr/bin/env bash
# changed_sources.sh COMMIT: the .cpp files outside of tests/ that changed since COMMIT, and those beside changed headers.
set -euo pipefail
git rev-parse --quiet --verify "$1^{commit}" >/dev/null || { echo "there is no commit $1; set SINCE to one" >&2; exit 1; }
git diff --name-only --diff-filter=AMR "$1" -- '*.h' '*.cpp' | while IFS= read -r file; do
  source="${file%.*}.cpp"
  case $source in
    tests/*) ;;
    *) if [ -f "$source" ]; then echo "$source"; fi ;;
  esac
done | sort -u

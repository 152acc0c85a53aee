#!/usr/bin/env bash
# assets.sh: prints the directory of the packages that the tests of the page need.
#
# Exit status: 0 if these and the programs are there, otherwise 1, with one line on stderr that names the remedy.
set -euo pipefail
source "$(dirname "$0")/versions.sh"

if [ ! -e "$built/.complete" ]; then
  echo "the packages of the page's tests are missing (\`make test-all\` installs them)" >&2
  exit 1
fi
for program in node chromium; do
  command -v "$program" >/dev/null && continue
  echo "the program $program is missing" >&2
  exit 1
done
echo "$built"

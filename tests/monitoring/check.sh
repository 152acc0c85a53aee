#!/usr/bin/env bash
# check.sh: checks the rules of deploy/monitoring/prometheus-rule.yaml, and runs the tests of this folder on them.
set -euo pipefail
source "$(dirname "$0")/versions.sh"
"$here/build.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# promtool reads what is below `spec`. Descriptions and runbooks are constants: without them, the tests need only the summaries.
awk '
  !rules { rules = /^spec:/; next }
  { sub(/^  /, ""); indent = match($0, /[^ ]/) }
  skipped && indent > skipped { next }
  { skipped = 0 }
  /^ *description: >-$/ { skipped = indent; next }
  /^ *runbook:/ { next }
  { print }
' "$here/../../deploy/monitoring/prometheus-rule.yaml" >"$work/rules.yaml"
cp "$here"/*_test.yaml "$work"

alerts=$(grep -oP '^ *- alert: \K.*' "$work/rules.yaml" | sort)
tested=$(grep -hoP 'alertname: \K\w+' "$work"/*_test.yaml | sort -u)
if [ "$alerts" != "$tested" ]; then
  echo "the tests are not of each alert, or of others:" >&2
  diff <(echo "$alerts") <(echo "$tested") >&2 || true
  exit 1
fi
"$built/promtool" check rules "$work/rules.yaml"
"$built/promtool" test rules "$work"/*_test.yaml

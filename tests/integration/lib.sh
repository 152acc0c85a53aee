# Sourced by the integration tests: starts a simulator for the test, and checks that print the actual output on failure.

fail() { printf 'FAIL: %s\n' "$*" >&2; exit 1; }

# expect DESCRIPTION PATTERN COMMAND...: the command's output (stdout and stderr) matches the extended regular expression.
expect() {
  local what=$1 pattern=$2 output
  shift 2
  output=$("$@" 2>&1) || true
  grep -Eq -- "$pattern" <<<"$output" || fail "$what: \`$*\` printed:"$'\n'"$output"$'\n'"expected a match of: $pattern"
  printf 'ok: %s\n' "$what"
}

# eventually DESCRIPTION PATTERN COMMAND...: as expect, retried for up to 30 seconds.
eventually() {
  local what=$1 pattern=$2 output deadline=$((SECONDS + 30))
  shift 2
  while true; do
    output=$("$@" 2>&1) || true
    grep -Eq -- "$pattern" <<<"$output" && break
    [ $SECONDS -lt $deadline ] || fail "$what: after 30 s \`$*\` still printed:"$'\n'"$output"$'\n'"expected: $pattern"
    read -rt 0.2 <> <(:) || true
  done
  printf 'ok: %s\n' "$what"
}

# start_simulator BINARY [options]: sets KUBECONFIG; the simulator is stopped when the test exits.
start_simulator() {
  local binary=$1
  shift
  workdir=$(mktemp -d)
  export KUBECONFIG="$workdir/kubeconfig"
  "$binary" --serve --kubeconfig "$KUBECONFIG" --log-level=warn "$@" >"$workdir/log" 2>&1 &
  simulator=$!
  trap 'status=$?; kill "$simulator" 2>/dev/null; wait "$simulator" 2>/dev/null; [ $status -eq 0 ] || tail -n 40 "$workdir/log"; rm -rf "$workdir"' EXIT
  eventually "the simulator answers" '^ok$' kubectl get --raw /readyz
}

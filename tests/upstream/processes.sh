# Sourced by the scripts of this folder that start servers.

processes=() # Their ids.

# stop_processes: ends them all and waits for them.
stop_processes() {
  for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
  for process in "${processes[@]}"; do wait "$process" 2>/dev/null || true; done
}

# free_port: of 127.0.0.1, outside of the ephemeral range.
free_port() {
  local port
  while port=$((20000 + RANDOM % 10000)); (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  echo "$port"
}

# wait_until PROCESS LOG COMMAND...: until COMMAND succeeds. Returns 1, after the end of LOG, if PROCESS exits or it takes two minutes.
wait_until() {
  local process=$1 log=$2 until=$((SECONDS + 120))
  shift 2
  until "$@" >/dev/null 2>&1; do
    kill -0 "$process" 2>/dev/null && [ "$SECONDS" -lt "$until" ] || { tail -n 5 "$log" >&2; return 1; }
    sleep 1
  done
}

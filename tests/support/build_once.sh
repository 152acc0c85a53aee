# Sourced by the scripts that build a program of the tests once, into the directory $cache.

# die MESSAGE: ends the script; $name is what it builds.
die() { echo "$name: $*" >&2; exit 1; }

# begin_build PROGRAM: ends the script if PROGRAM exists. Otherwise waits for other builds, keeps them waiting until the script
# ends, and sets $temporary to a directory that is removed then.
begin_build() {
  [ ! -x "$1" ] || exit 0
  mkdir -p "$cache" || die "$cache cannot be created"
  exec {lock}>"$cache/.lock"
  flock "$lock"
  [ ! -x "$1" ] || exit 0
  temporary=$(mktemp -d "$cache/.building.XXXXXX")
  trap 'rm -rf "$temporary"' EXIT
}

# find_go: sets $go, and the environment of builds of Go modules.
find_go() {
  go=$(command -v go || command -v /usr/local/go/bin/go) ||
    die "Go is not installed (https://go.dev/dl, not Debian's 1.19); it is not built"
  export CGO_ENABLED=0 GOWORK=off
}

# die_of_modules: Go modules could not be loaded; their log is $temporary/log.
die_of_modules() { die "Go modules cannot be loaded: $(grep -v '^go: downloading' "$temporary/log" | tail -n 1)"; }

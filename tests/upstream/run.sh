#!/usr/bin/env bash
# run.sh SUITE CHECKOUT [GINKGO FLAG...]: runs an integration suite of upstream against our operator.
#
#   SUITE     jobset, jobset-webhook, lws, lws-webhook, kuberay, kuberay-rayjob, kuberay-rayservice
#   CHECKOUT  a checkout of the project that the suite is from; it is not changed
#   flags     such as --ginkgo.focus='startupPolicy'; --ginkgo.no-color
#
#   VALIDATION=off      no validating webhooks, as upstream's set-up of the suites jobset, lws and kuberay
#   OPERATOR            the program; default: build/dev/bin/tpu-slice-operator
#   KUBEBUILDER_ASSETS  a directory with etcd and kube-apiserver; default: those of `make controlplane`
#
# Needs Go. The suite's specs are compiled with the set-up in this folder instead of upstream's: envtest starts etcd and kube-apiserver, the
# files of deploy/ are installed, and our operator runs as a process of its own. docs/upstream-suites.md lists the specs that do not pass.
set -euo pipefail
folder=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$folder/../.." && pwd)
source "$root/tests/controlplane/versions.sh"

die() { echo "run.sh: $*" >&2; exit 2; }

[ $# -ge 2 ] || die "usage: run.sh SUITE CHECKOUT [GINKGO FLAG...]"
suite=$1
checkout=$(cd "$2" && pwd)
shift 2
flags=()
case $suite in # module: a folder of the checkout; package: a folder of the module; setup: a folder beside this file
  jobset) module=. package=test/integration/controller setup=jobset/controller ;;
  jobset-webhook) module=. package=test/integration/webhook setup=jobset/webhook ;;
  lws) module=. package=test/integration/controllers setup=leaderworkerset/controller ;;
  lws-webhook) module=. package=test/integration/webhooks setup=leaderworkerset/webhook ;;
  kuberay | kuberay-*)
    module=ray-operator package=controllers/ray setup=kuberay/controllers
    # The package has the suites of all kinds, and unit tests, too.
    case $suite in
      kuberay) file='raycluster_controller_test.go' ;;
      kuberay-rayjob) file='rayjob_controller(_suspended)?_test.go' ;;
      kuberay-rayservice) file='rayservice_controller_test.go' ;;
      *) die "no suite $suite" ;;
    esac
    flags=(-test.run '^TestSpecs$' "--ginkgo.focus-file=$file")
    ;;
  *) die "no suite $suite" ;;
esac
[ -f "$checkout/$module/$package/suite_test.go" ] || die "$checkout: no $module/$package/suite_test.go"
operator=$(realpath "${OPERATOR:-$root/build/dev/bin/tpu-slice-operator}")
[ -x "$operator" ] || die "$operator: no such program (\`cmake --build build/dev --target tpu-slice-operator\`)"
apiserver=$(locate kube-apiserver) || die "no kube-apiserver (\`make controlplane\` builds it)"
go=$(command -v go || command -v /usr/local/go/bin/go) || die "Go is not installed"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/overlay.json" <<JSON
{"Replace": {
  "$checkout/$module/$package/suite_test.go": "$folder/$setup/suite_test.go",
  "$checkout/$module/internal/tpuslice/environment/environment.go": "$folder/environment/environment.go"
}}
JSON
(cd "$checkout/$module" && "$go" test -c -vet=off -overlay "$work/overlay.json" -o "$work/suite" "./$package")

log=$(mktemp --suffix=.log -t "upstream-$suite.XXXXXX")
echo "log of the operator: $log"
cd "$checkout/$module/$package" # Specs read files by relative paths.
KUBEBUILDER_ASSETS=${apiserver%/*} TPUSLICE_DEPLOY=$root/deploy TPUSLICE_OPERATOR=$operator TPUSLICE_SETUP=$folder/$setup TPUSLICE_SUITE=$suite TPUSLICE_LOG=$log \
  "$work/suite" "${flags[@]}" "$@"

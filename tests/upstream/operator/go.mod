// Versions and checksums of upstream's operators that tests/upstream/beside.sh and `make bench-recovery` run. build.sh builds each as the
// main module, with its own go.mod and go.sum, which the checksum covers.
module tpuslice.dev/upstream

go 1.26.0

require (
	github.com/ray-project/kuberay/ray-operator v1.5.0
	sigs.k8s.io/jobset v0.12.0
	sigs.k8s.io/lws v0.9.0
)

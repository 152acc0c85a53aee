// Version and checksum of the KubeRay that tests/upstream/beside.sh runs. build.sh builds it as the main module, with its own go.mod
// and go.sum, which the checksum covers.
module tpuslice.dev/kuberay

go 1.26.0

require github.com/ray-project/kuberay/ray-operator v1.5.0

// Version and checksum of the Kueue that the end-to-end tests run. build.sh builds it as the main module, with its own
// go.mod and go.sum, which the checksum covers.
module tpuslice.dev/kueue

go 1.26.0

require sigs.k8s.io/kueue v0.19.2

// Version and checksum of the Helm that the tests of the chart run. build.sh builds it as the main module, with its own
// go.mod and go.sum, which the checksum covers.
module tpuslice.dev/helm

go 1.26.0

require helm.sh/helm/v3 v3.22.0

// Version and checksum of the Prometheus whose promtool tests the alerts. build.sh builds it as the main module, with its own
// go.mod and go.sum, which the checksum covers.
module tpuslice.dev/prometheus

go 1.26.7

require github.com/prometheus/prometheus v0.316.0

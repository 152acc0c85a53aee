// Version and checksum of the Gateway API whose CustomResourceDefinitions tests install.
module tpuslice.dev/gateway-api

go 1.26.0

require sigs.k8s.io/gateway-api v1.6.3

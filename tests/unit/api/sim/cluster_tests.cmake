# What surrounds the simulated API server: scheduler, kubelets, controllers, node pools, faults.
tpuslice_test(unit_sim_cluster_test
  SOURCES
    cluster_fault_transport_test.cpp
    cluster_garbage_collector_test.cpp
    cluster_kubelet_test.cpp
    cluster_node_pools_test.cpp
    cluster_nodes_test.cpp
    cluster_scheduler_test.cpp
    cluster_services_test.cpp
    cluster_timeline_test.cpp
  DEPS tpuslice::sim
  LABELS unit)

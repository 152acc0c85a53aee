# What surrounds the simulated API server: scheduler, kubelets, controllers, node pools, faults.
tpuslice_test(unit_sim_cluster_test
  SOURCES
    cluster_due_keys_test.cpp
    cluster_fault_transport_test.cpp
    cluster_garbage_collector_test.cpp
    cluster_kubelet_test.cpp
    cluster_node_pools_test.cpp
    cluster_nodes_test.cpp
    cluster_owners_test.cpp
    cluster_scheduler_test.cpp
    cluster_services_test.cpp
    cluster_timeline_test.cpp
  DEPS tpuslice::sim
  LABELS unit)

# The Job controller.
tpuslice_test(unit_sim_jobs_test
  SOURCES
    job_controller_test.cpp
    job_failure_test.cpp
    job_indexes_test.cpp
  DEPS tpuslice::sim
  LABELS unit)

# The StatefulSet controller.
tpuslice_test(unit_sim_stateful_sets_test
  SOURCES
    stateful_set_claims_test.cpp
    stateful_set_controller_test.cpp
    stateful_set_update_test.cpp
  DEPS tpuslice::sim
  LABELS unit)

# The parts of a cluster around its API server: scheduler, kubelets, controllers, node pools, faults.
target_sources(tpuslice_sim PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/affinity.cpp
  ${CMAKE_CURRENT_LIST_DIR}/change_feed.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cluster.cpp
  ${CMAKE_CURRENT_LIST_DIR}/conditions.cpp
  ${CMAKE_CURRENT_LIST_DIR}/endpoints.cpp
  ${CMAKE_CURRENT_LIST_DIR}/events.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fault_transport.cpp
  ${CMAKE_CURRENT_LIST_DIR}/garbage_collector.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kubelet.cpp
  ${CMAKE_CURRENT_LIST_DIR}/namespaces.cpp
  ${CMAKE_CURRENT_LIST_DIR}/node_lifecycle.cpp
  ${CMAKE_CURRENT_LIST_DIR}/node_pools.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pod_defaults.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pod_stages.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pod_status.cpp
  ${CMAKE_CURRENT_LIST_DIR}/predicates.cpp
  ${CMAKE_CURRENT_LIST_DIR}/requirements.cpp
  ${CMAKE_CURRENT_LIST_DIR}/scheduler.cpp
  ${CMAKE_CURRENT_LIST_DIR}/scheduling_info.cpp
  ${CMAKE_CURRENT_LIST_DIR}/timeline.cpp)

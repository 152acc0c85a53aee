# Node pools, kubelets and the node lifecycle controller.
target_sources(tpuslice_sim PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/accelerator_tolerations.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kubelet.cpp
  ${CMAKE_CURRENT_LIST_DIR}/node_lifecycle.cpp
  ${CMAKE_CURRENT_LIST_DIR}/node_pools.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pod_stages.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pod_status.cpp)

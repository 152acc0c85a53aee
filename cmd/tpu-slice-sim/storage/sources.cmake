# The etcd of the simulated cluster.
target_sources(tpuslice_sim PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/storage.cpp)

# Tables: the columns that `kubectl get` prints.
target_sources(tpuslice_sim PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/age.cpp
  ${CMAKE_CURRENT_LIST_DIR}/builtin_columns.cpp
  ${CMAKE_CURRENT_LIST_DIR}/core_columns.cpp
  ${CMAKE_CURRENT_LIST_DIR}/json_path.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pod_columns.cpp
  ${CMAKE_CURRENT_LIST_DIR}/table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/workload_columns.cpp)

# Garbage collection and the end of namespaces.
target_sources(tpuslice_sim PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/garbage_collector.cpp
  ${CMAKE_CURRENT_LIST_DIR}/namespaces.cpp)

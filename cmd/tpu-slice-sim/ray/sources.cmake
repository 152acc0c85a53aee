# Ray's dashboards, as a test sets them up.
target_sources(tpuslice_sim PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/dashboards.cpp)

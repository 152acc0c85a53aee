# The OpenAPI documents that kubectl reads.
target_sources(tpuslice_sim PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/openapi.cpp)

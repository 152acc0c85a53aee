# Admission webhooks.
target_sources(tpuslice_sim PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/matching.cpp
  ${CMAKE_CURRENT_LIST_DIR}/review.cpp
  ${CMAKE_CURRENT_LIST_DIR}/webhooks.cpp)

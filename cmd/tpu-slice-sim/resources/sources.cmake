# Which resources are served, and the errors that name them.
target_sources(tpuslice_sim PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/api_errors.cpp
  ${CMAKE_CURRENT_LIST_DIR}/builtin_resources.cpp
  ${CMAKE_CURRENT_LIST_DIR}/conversion.cpp
  ${CMAKE_CURRENT_LIST_DIR}/resources.cpp)

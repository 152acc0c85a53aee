# The parts of a cluster around its API server.
target_sources(tpuslice_sim PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/change_feed.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cluster.cpp
  ${CMAKE_CURRENT_LIST_DIR}/conditions.cpp
  ${CMAKE_CURRENT_LIST_DIR}/due_keys.cpp
  ${CMAKE_CURRENT_LIST_DIR}/endpoint_slices.cpp
  ${CMAKE_CURRENT_LIST_DIR}/events.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fault_transport.cpp
  ${CMAKE_CURRENT_LIST_DIR}/owners.cpp
  ${CMAKE_CURRENT_LIST_DIR}/saved_objects.cpp
  ${CMAKE_CURRENT_LIST_DIR}/timeline.cpp)

include(${CMAKE_CURRENT_LIST_DIR}/garbage_collection/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/jobs/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/nodes/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/scheduling/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/stateful_sets/sources.cmake)

# The StatefulSet controller.
target_sources(tpuslice_sim PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/stateful_set_claims.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stateful_set_controller.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stateful_set_members.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stateful_set_pods.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stateful_set_replicas.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stateful_set_revisions.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stateful_set_sync.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stateful_set_writes.cpp)

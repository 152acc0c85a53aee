# Writes: validation, admission and storage of objects.
target_sources(tpuslice_sim PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/ids.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kinds.cpp
  ${CMAKE_CURRENT_LIST_DIR}/object_checks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/registry.cpp
  ${CMAKE_CURRENT_LIST_DIR}/registry_delete.cpp
  ${CMAKE_CURRENT_LIST_DIR}/registry_update.cpp
  ${CMAKE_CURRENT_LIST_DIR}/scale.cpp
  ${CMAKE_CURRENT_LIST_DIR}/service_addresses.cpp)

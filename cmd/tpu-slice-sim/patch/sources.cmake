# Patches, server-side apply and field ownership.
target_sources(tpuslice_sim PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/apply.cpp
  ${CMAKE_CURRENT_LIST_DIR}/field_set.cpp
  ${CMAKE_CURRENT_LIST_DIR}/managed_fields.cpp
  ${CMAKE_CURRENT_LIST_DIR}/patch.cpp
  ${CMAKE_CURRENT_LIST_DIR}/schema_cursor.cpp
  ${CMAKE_CURRENT_LIST_DIR}/strategic.cpp)

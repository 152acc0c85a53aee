# Schemas, patches and admission of the simulated API server.
tpuslice_test(unit_sim_schema_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/admission_webhooks_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/patch_apply_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/patch_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/schema_builtin_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/schema_cel_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/schema_job_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/schema_pod_update_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/schema_structural_test.cpp
  DEPS tpuslice::sim
  LABELS unit)

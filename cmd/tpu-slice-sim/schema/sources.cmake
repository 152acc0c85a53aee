# CRD schemas, CEL and the built-in resources' schemas, defaults and validation. RE2 runs the patterns users write.
target_sources(tpuslice_sim PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/builtin_defaults.cpp
  ${CMAKE_CURRENT_LIST_DIR}/builtin_schema.cpp
  ${CMAKE_CURRENT_LIST_DIR}/builtin_validate.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cel_evaluator.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cel_lexer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cel_parser.cpp
  ${CMAKE_CURRENT_LIST_DIR}/core_types.cpp
  ${CMAKE_CURRENT_LIST_DIR}/decode.cpp
  ${CMAKE_CURRENT_LIST_DIR}/formats.cpp
  ${CMAKE_CURRENT_LIST_DIR}/job_validate.cpp
  ${CMAKE_CURRENT_LIST_DIR}/meta_types.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pod_defaulting.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pod_types.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pod_update_validate.cpp
  ${CMAKE_CURRENT_LIST_DIR}/policy_types.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rules.cpp
  ${CMAKE_CURRENT_LIST_DIR}/structural_check.cpp
  ${CMAKE_CURRENT_LIST_DIR}/structural_objects.cpp
  ${CMAKE_CURRENT_LIST_DIR}/structural_validate.cpp
  ${CMAKE_CURRENT_LIST_DIR}/type_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/volume_types.cpp
  ${CMAKE_CURRENT_LIST_DIR}/workload_types.cpp)
target_link_libraries(tpuslice_sim PRIVATE re2)

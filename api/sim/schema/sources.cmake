# CRD schemas, CEL and the built-in resources' schemas, defaults and validation. RE2 runs the patterns users write.
target_sources(tpuslice_sim PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/cel_evaluator.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cel_functions.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cel_lexer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cel_parser.cpp
  ${CMAKE_CURRENT_LIST_DIR}/formats.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rules.cpp
  ${CMAKE_CURRENT_LIST_DIR}/structural_check.cpp
  ${CMAKE_CURRENT_LIST_DIR}/structural_objects.cpp
  ${CMAKE_CURRENT_LIST_DIR}/structural_validate.cpp)
target_link_libraries(tpuslice_sim PRIVATE re2)

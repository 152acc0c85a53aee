# The Job controller.
target_sources(tpuslice_sim PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/finished_jobs.cpp
  ${CMAKE_CURRENT_LIST_DIR}/job_controller.cpp
  ${CMAKE_CURRENT_LIST_DIR}/job_indexes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/job_pods.cpp
  ${CMAKE_CURRENT_LIST_DIR}/job_policies.cpp
  ${CMAKE_CURRENT_LIST_DIR}/job_scaling.cpp
  ${CMAKE_CURRENT_LIST_DIR}/job_status.cpp
  ${CMAKE_CURRENT_LIST_DIR}/job_sync.cpp
  ${CMAKE_CURRENT_LIST_DIR}/job_tracking.cpp)

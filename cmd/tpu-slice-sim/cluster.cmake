# The simulated cluster: API server, controllers, scheduler, kubelets. Each subfolder lists its files in sources.cmake.
tpuslice_library(sim
  DEPS tpuslice::http tpuslice::types tpuslice::base)

include(${CMAKE_CURRENT_LIST_DIR}/storage/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/resources/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/schema/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/patch/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/admission/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/registry/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/table/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/openapi/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/server/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/cluster/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/ray/sources.cmake)

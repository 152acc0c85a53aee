# The REST API: requests, lists, watches and discovery, over HTTPS or in process.
target_sources(tpuslice_sim PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/api_server.cpp
  ${CMAKE_CURRENT_LIST_DIR}/discovery.cpp
  ${CMAKE_CURRENT_LIST_DIR}/https_listener.cpp
  ${CMAKE_CURRENT_LIST_DIR}/in_process_transport.cpp
  ${CMAKE_CURRENT_LIST_DIR}/list_handler.cpp
  ${CMAKE_CURRENT_LIST_DIR}/list_options.cpp
  ${CMAKE_CURRENT_LIST_DIR}/media_type.cpp
  ${CMAKE_CURRENT_LIST_DIR}/object_handlers.cpp
  ${CMAKE_CURRENT_LIST_DIR}/presenter.cpp
  ${CMAKE_CURRENT_LIST_DIR}/protobuf.cpp
  ${CMAKE_CURRENT_LIST_DIR}/request_info.cpp
  ${CMAKE_CURRENT_LIST_DIR}/selection.cpp
  ${CMAKE_CURRENT_LIST_DIR}/subresources.cpp
  ${CMAKE_CURRENT_LIST_DIR}/watch_stream.cpp)

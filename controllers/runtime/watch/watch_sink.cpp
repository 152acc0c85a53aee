#include "controllers/runtime/watch/watch_sink.h"

#include "api/client/json_scan.h"

namespace tpuslice::runtime {

ObjectKey key_in(std::string_view object) {
  const std::string_view metadata = client::json_member(object, "metadata");
  if (metadata.empty()) return {};
  return {client::json_string(client::json_member(metadata, "namespace")).value_or(""),
          client::json_string(client::json_member(metadata, "name")).value_or("")};
}

}  // namespace tpuslice::runtime

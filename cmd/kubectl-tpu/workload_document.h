// What the page shows of a workload's object, beside what is known of its slices: conditions, events and YAML.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "api/client/client.h"
#include "api/types/object.h"

namespace tpuslice::plugin {

inline constexpr std::size_t kMaxShownEvents = 50;
inline constexpr std::size_t kMaxShownYaml = std::size_t{64} << 10U;  ///< Bytes.

/// {"conditions": [{"type", "status", "reason", "message", "since"}],
///  "events": [{"time", "type", "reason", "message", "count"}], "yaml": "..."}
///
/// Events are the last ones, the latest first. Texts are cut; managedFields and what `kubectl apply` keeps are left
/// out. Pure.
[[nodiscard]] Json workload_document(const Object& object, const std::vector<Object>& events);

/// Reads both. If the events cannot be read, the member "eventsProblem" says why. Errors: InvalidArgument for a kind
/// that has no slices; those of client::Reader::get.
[[nodiscard]] Result<Json> read_workload_document(client::Client& api, const std::string& kind, const ObjectKey& key,
                                                  const std::stop_token& stop);

}  // namespace tpuslice::plugin

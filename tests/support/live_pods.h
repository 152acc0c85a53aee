// live_pods(): the pods of a namespace that are not terminating.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/client/client.h"

namespace tpuslice::testing {

/// Empty if they cannot be listed. For conditions of eventually().
[[nodiscard]] inline std::vector<Object> live_pods(client::Client& client, const std::string& namespace_name,
                                                   const std::string& label_selector = {}) {
  std::vector<Object> pods;
  const auto list = client.list(kPods, {.namespace_name = namespace_name, .label_selector = label_selector}, {});
  if (!list) return pods;
  for (const std::string& text : list->items) {
    Object pod(Json::parse(text));
    if (!pod.deletion_timestamp()) pods.push_back(std::move(pod));
  }
  return pods;
}

}  // namespace tpuslice::testing

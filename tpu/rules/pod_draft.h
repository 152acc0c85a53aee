// PodDraft: a pod being mutated, with a record of the changes.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tpu/rules/env_budget.h"
#include "tpu/rules/member_changes.h"

namespace tpuslice::rules {

struct PodDraft {
  Json& json;
  MemberChanges changes;
  EnvBudget budget = {};

  /// The value of a label or annotation.
  Json& metadata(std::string_view map, std::string_view key) {
    Json& metadata = json["metadata"];
    const auto found = metadata.find(map);
    if (found == metadata.end() || found->is_null()) {
      return changes.member(metadata, "/metadata", map)[std::string(key)];
    }
    return changes.member(*found, fmt::format("/metadata/{}", map), key);
  }
  void erase_label(std::string_view key) {
    Json& metadata = json["metadata"];
    const auto labels = metadata.find("labels");
    if (labels != metadata.end()) changes.erase(*labels, "/metadata/labels", key);
  }
  Json& annotations() {
    Json& found = changes.member(json["metadata"], "/metadata", "annotations");
    if (found.is_null()) found = Json::object();
    return found;
  }
  Json& spec(std::string_view key) { return changes.member(json["spec"], "/spec", key); }
  Json& env(std::string_view list, std::size_t container) {
    return changes.member(json["spec"][std::string(list)][container], fmt::format("/spec/{}/{}", list, container),
                          "env");
  }
};

}  // namespace tpuslice::rules

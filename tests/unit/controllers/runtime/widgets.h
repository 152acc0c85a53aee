// Widget: the workload kind of these tests, and its pods.
#pragma once

#include <string>
#include <utility>

#include "tests/support/fake_api.h"

namespace tpuslice::runtime {

using tpuslice::testing::FakeApi;

inline constexpr ResourceType kWidgets{"example.com", "v1", "Widget", "widgets"};

[[nodiscard]] inline Object widget(const std::string& name, Json spec = Json::object()) {
  return Object(Json({{"apiVersion", kWidgets.api_version()},
                      {"kind", kWidgets.kind},
                      {"metadata", {{"name", name}, {"namespace", "default"}}},
                      {"spec", std::move(spec)}}));
}

[[nodiscard]] inline Object pod(const std::string& name, const Object* owner = nullptr) {
  const std::string space = owner == nullptr ? "default" : owner->namespace_name();
  Json json = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", name}, {"namespace", space}}}};
  if (owner != nullptr) json["metadata"]["ownerReferences"] = Json::array({owner->as_controller().to_json()});
  return Object(std::move(json));
}

}  // namespace tpuslice::runtime

// Builders of Kubernetes objects for tests.
//
//   const Json pod = a_pod("worker").label("app", "train").tpu(4).on_pool("v6e-4x4-a");
#pragma once

#include <string>
#include <utility>

#include "api/types/json.h"

namespace tpuslice::testing {

class PodBuilder {
 public:
  explicit PodBuilder(const std::string& name) {
    json_ = {{"apiVersion", "v1"},
             {"kind", "Pod"},
             {"metadata", {{"name", name}, {"namespace", "default"}}},
             {"spec", {{"containers", Json::array({Json{{"name", "main"}, {"image", "image"}}})}}}};
  }

  PodBuilder& in(const std::string& space) { return set("/metadata/namespace", space); }
  PodBuilder& label(const std::string& key, const std::string& value) {
    json_["metadata"]["labels"][key] = value;
    return *this;
  }
  /// An annotation of the simulated kubelet: "fail-after", "5s".
  PodBuilder& script(const std::string& name, const std::string& value) {
    json_["metadata"]["annotations"]["sim.tpuslice.dev/" + name] = value;
    return *this;
  }
  PodBuilder& request(const std::string& resource, const std::string& amount) {
    json_["spec"]["containers"][0]["resources"]["requests"][resource] = amount;
    return *this;
  }
  PodBuilder& tpu(int chips) {
    json_["spec"]["containers"][0]["resources"]["limits"]["google.com/tpu"] = std::to_string(chips);
    return request("google.com/tpu", std::to_string(chips));
  }
  PodBuilder& select(const std::string& label, const std::string& value) {
    json_["spec"]["nodeSelector"][label] = value;
    return *this;
  }
  PodBuilder& on_pool(const std::string& pool) { return select("cloud.google.com/gke-nodepool", pool); }
  PodBuilder& restart_policy(const std::string& policy) { return set("/spec/restartPolicy", policy); }
  PodBuilder& priority(int value) { return set("/spec/priority", value); }
  PodBuilder& gate(const std::string& name) { return append("/spec/schedulingGates", {{"name", name}}); }
  PodBuilder& init_container(const std::string& name, const Json& env = Json::array()) {
    return append("/spec/initContainers", {{"name", name}, {"image", "image"}, {"env", env}});
  }
  /// kind: "podAffinity" or "podAntiAffinity".
  PodBuilder& affinity(const std::string& kind, const Json& selector, const std::string& topology_key) {
    return append("/spec/affinity/" + kind + "/requiredDuringSchedulingIgnoredDuringExecution",
                  {{"labelSelector", selector}, {"topologyKey", topology_key}});
  }
  PodBuilder& owned_by(const Json& owner, bool block = true) {
    return append("/metadata/ownerReferences", {{"apiVersion", owner.at("apiVersion")},
                                                {"kind", owner.at("kind")},
                                                {"name", owner.at("metadata").at("name")},
                                                {"uid", owner.at("metadata").at("uid")},
                                                {"controller", true},
                                                {"blockOwnerDeletion", block}});
  }
  PodBuilder& set(const std::string& pointer, const Json& value) {
    json_[Json::json_pointer(pointer)] = value;
    return *this;
  }
  PodBuilder& append(const std::string& pointer, const Json& value) {
    Json& list = json_[Json::json_pointer(pointer)];
    if (!list.is_array()) list = Json::array();
    list.push_back(value);
    return *this;
  }

  [[nodiscard]] Json build() const { return json_; }
  operator Json() const { return json_; }  // NOLINT(google-explicit-constructor)

 private:
  Json json_;
};

[[nodiscard]] inline PodBuilder a_pod(const std::string& name) { return PodBuilder(name); }

[[nodiscard]] inline Json a_config_map(const std::string& name, const std::string& space = "default") {
  return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}, {"namespace", space}}}};
}

[[nodiscard]] inline Json a_service(const std::string& name, const Json& selector) {
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", {{"name", name}, {"namespace", "default"}}},
          {"spec", {{"selector", selector}, {"ports", Json::array({Json{{"name", "http"}, {"port", 80}}})}}}};
}

}  // namespace tpuslice::testing

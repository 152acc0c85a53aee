// StatefulSetFixture: a test on StatefulSets in a simulated cluster.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/support/sim_fixture.h"

namespace tpuslice::sim {

class StatefulSetBuilder {
 public:
  explicit StatefulSetBuilder(const std::string& name) {
    const Json labels = {{"app", name}};
    json_ = {{"apiVersion", "apps/v1"},
             {"kind", "StatefulSet"},
             {"metadata", {{"name", name}, {"namespace", "default"}}},
             {"spec",
              {{"selector", {{"matchLabels", labels}}},
               {"serviceName", name},
               {"template",
                {{"metadata", {{"labels", labels}}},
                 {"spec", {{"containers", Json::array({Json{{"name", "main"}, {"image", "first"}}})}}}}}}}};
  }

  StatefulSetBuilder& spec(const std::string& field, const Json& value) {
    json_["spec"][field] = value;
    return *this;
  }
  StatefulSetBuilder& replicas(int count) { return spec("replicas", count); }
  StatefulSetBuilder& parallel() { return spec("podManagementPolicy", "Parallel"); }
  StatefulSetBuilder& partition(int ordinal) {
    return spec("updateStrategy", {{"type", "RollingUpdate"}, {"rollingUpdate", {{"partition", ordinal}}}});
  }
  StatefulSetBuilder& image(const std::string& image) { return set("/spec/template/spec/containers/0/image", image); }
  /// With a claim of that name for each pod.
  StatefulSetBuilder& claim(const std::string& name) {
    json_["spec"]["volumeClaimTemplates"].push_back(
        {{"metadata", {{"name", name}}},
         {"spec", {{"accessModes", {"ReadWriteOnce"}}, {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}});
    return *this;
  }
  StatefulSetBuilder& claims_kept(const std::string& when_deleted, const std::string& when_scaled) {
    return spec("persistentVolumeClaimRetentionPolicy", {{"whenDeleted", when_deleted}, {"whenScaled", when_scaled}});
  }
  /// A script of the simulated kubelet, for each of its pods.
  StatefulSetBuilder& script(const std::string& name, const std::string& value) {
    json_["spec"]["template"]["metadata"]["annotations"]["sim.tpuslice.dev/" + name] = value;
    return *this;
  }
  StatefulSetBuilder& set(const std::string& pointer, const Json& value) {
    json_[Json::json_pointer(pointer)] = value;
    return *this;
  }
  operator Json() const { return json_; }  // NOLINT(google-explicit-constructor)

 private:
  Json json_;
};

[[nodiscard]] inline StatefulSetBuilder a_set(const std::string& name) { return StatefulSetBuilder(name); }

class StatefulSetFixture : public testing::SimFixture {
 protected:
  explicit StatefulSetFixture(ClusterOptions options = {}) : SimFixture(std::move(options)) {}

  [[nodiscard]] Json stateful_set(const std::string& name) const {
    const JsonPtr found = cluster_.get("statefulsets.apps", {"default", name});
    return found == nullptr ? Json() : *found;
  }
  [[nodiscard]] Json status(const std::string& name) const {
    const Json found = stateful_set(name);
    return found.is_null() ? Json() : found.value("status", Json::object());
  }
  [[nodiscard]] std::string status_text(const std::string& name, const char* field) const {
    return string_at(status(name), {field});
  }
  /// "3 replicas, 3 ready, 3 current, 3 updated", as the status counts them.
  [[nodiscard]] std::string counts(const std::string& name) const {
    const Json found = status(name);
    return fmt::format("{} replicas, {} ready, {} current, {} updated", int_at(found, {"replicas"}),
                       int_at(found, {"readyReplicas"}), int_at(found, {"currentReplicas"}),
                       int_at(found, {"updatedReplicas"}));
  }
  /// The image of the pod, which identifies its template; empty without a pod.
  [[nodiscard]] std::string image_of(const std::string& name) const {
    return string_at(pod(name), {"spec", "containers", "0", "image"});
  }
  [[nodiscard]] std::string uid_of(const std::string& name) const { return string_at(pod(name), {"metadata", "uid"}); }
  [[nodiscard]] std::vector<std::string> images(const std::string& set, int first, int count) const {
    std::vector<std::string> out;
    for (int i = first; i < first + count; ++i) out.push_back(image_of(fmt::format("{}-{}", set, i)));
    return out;
  }
  [[nodiscard]] std::vector<std::string> pods() { return names("pods", "default"); }
  [[nodiscard]] std::vector<std::string> claims() { return names("persistentvolumeclaims", "default"); }
  [[nodiscard]] std::vector<std::string> revisions() { return names("controllerrevisions.apps", "default"); }
  [[nodiscard]] Json claim(const std::string& name) const {
    const JsonPtr found = cluster_.get("persistentvolumeclaims", {"default", name});
    return found == nullptr ? Json() : *found;
  }
  /// "StatefulSet web", of each owner.
  [[nodiscard]] static std::vector<std::string> owners(const Json& object) {
    std::vector<std::string> out;
    for (const Json& owner : array_at(object, {"metadata", "ownerReferences"})) {
      out.push_back(string_at(owner, {"kind"}) + " " + string_at(owner, {"name"}));
    }
    return out;
  }
  [[nodiscard]] Status patch(const std::string& name, const Json& merge) {
    const auto patched =
        cluster_.registry().patch(*cluster_.registry().resources().find_id("statefulsets.apps"), {"default", name}, {},
                                  {.content_type = "application/merge-patch+json", .body = merge});
    return patched ? Status() : Status(patched.error());
  }
  /// "Normal SuccessfulCreate: message", sorted.
  [[nodiscard]] std::vector<std::string> events_of(const std::string& name) {
    std::vector<std::string> out;
    for (const JsonPtr& event : cluster_.storage().list("events", "default")) {
      if (string_at(*event, {"involvedObject", "kind"}) != "StatefulSet") continue;
      if (string_at(*event, {"involvedObject", "name"}) != name) continue;
      out.push_back(fmt::format("{} {}: {}", string_at(*event, {"type"}), string_at(*event, {"reason"}),
                                string_at(*event, {"message"})));
    }
    std::sort(out.begin(), out.end());
    return out;
  }
};

}  // namespace tpuslice::sim

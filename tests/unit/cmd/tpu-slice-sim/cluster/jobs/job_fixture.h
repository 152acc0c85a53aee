// JobFixture: a test on Jobs in a simulated cluster.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/support/sim_fixture.h"

namespace tpuslice::sim {

class JobBuilder {
 public:
  explicit JobBuilder(const std::string& name) {
    json_ = {{"apiVersion", "batch/v1"},
             {"kind", "Job"},
             {"metadata", {{"name", name}, {"namespace", "default"}}},
             {"spec",
              {{"template",
                {{"spec",
                  {{"restartPolicy", "Never"},
                   {"containers", Json::array({Json{{"name", "main"}, {"image", "image"}}})}}}}}}}};
  }

  /// As many pods as completions, all at once.
  JobBuilder& indexed(int completions) {
    return spec("completionMode", "Indexed").spec("completions", completions).spec("parallelism", completions);
  }
  JobBuilder& spec(const std::string& field, const Json& value) {
    json_["spec"][field] = value;
    return *this;
  }
  JobBuilder& restart_policy(const std::string& policy) {
    json_["spec"]["template"]["spec"]["restartPolicy"] = policy;
    return *this;
  }
  /// A script of the simulated kubelet, for each of its pods.
  JobBuilder& script(const std::string& name, const std::string& value) {
    json_["spec"]["template"]["metadata"]["annotations"]["sim.tpuslice.dev/" + name] = value;
    return *this;
  }
  JobBuilder& set(const std::string& pointer, const Json& value) {
    json_[Json::json_pointer(pointer)] = value;
    return *this;
  }
  operator Json() const { return json_; }  // NOLINT(google-explicit-constructor)

 private:
  Json json_;
};

[[nodiscard]] inline JobBuilder a_job(const std::string& name) { return JobBuilder(name); }

class JobFixture : public testing::SimFixture {
 protected:
  [[nodiscard]] Json job(const std::string& name) const {
    const JsonPtr found = cluster_.get("jobs.batch", {"default", name});
    return found == nullptr ? Json() : *found;
  }
  [[nodiscard]] Json status(const std::string& name) const {
    const Json found = job(name);
    return found.is_null() ? Json() : found.value("status", Json::object());
  }
  /// "FailureTarget=True BackoffLimitExceeded", in their order.
  [[nodiscard]] std::vector<std::string> conditions(const std::string& name) const {
    std::vector<std::string> out;
    const Json found = status(name);
    for (const Json& entry : array_at(found, {"conditions"})) {
      out.push_back(fmt::format("{}={} {}", string_at(entry, {"type"}), string_at(entry, {"status"}),
                                string_at(entry, {"reason"})));
    }
    return out;
  }
  [[nodiscard]] bool has_condition(const std::string& name, const std::string& type) const {
    return condition_status(job(name), type) == "True";
  }
  /// Those that are there, by index and name.
  [[nodiscard]] std::vector<Json> pods_of(const std::string& name) {
    std::vector<Json> out;
    for (const JsonPtr& pod : cluster_.storage().list("pods", "default")) {
      if (string_at(*pod, {"metadata", "labels", "batch.kubernetes.io/job-name"}) == name) out.push_back(*pod);
    }
    std::stable_sort(out.begin(), out.end(), [](const Json& a, const Json& b) { return index_of(a) < index_of(b); });
    return out;
  }
  /// Pods that are neither terminal nor terminating.
  [[nodiscard]] std::vector<std::string> indexes_of(const std::string& name) {
    std::vector<std::string> out;
    for (const Json& pod : live_pods_of(name)) out.push_back(index_of(pod));
    return out;
  }
  [[nodiscard]] std::vector<Json> live_pods_of(const std::string& name) {
    std::vector<Json> out = pods_of(name);
    out.erase(std::remove_if(out.begin(), out.end(),
                             [](const Json& pod) {
                               const std::string phase = string_at(pod, {"status", "phase"});
                               return phase == "Succeeded" || phase == "Failed" ||
                                      pod["metadata"].contains("deletionTimestamp");
                             }),
              out.end());
    return out;
  }
  [[nodiscard]] static std::string index_of(const Json& pod) {
    return string_at(pod, {"metadata", "annotations", "batch.kubernetes.io/job-completion-index"});
  }
  [[nodiscard]] static ObjectKey key_of_pod(const Json& pod) {
    return {"default", string_at(pod, {"metadata", "name"})};
  }
  [[nodiscard]] static bool held(const Json& pod) {
    const Json& finalizers = array_at(pod, {"metadata", "finalizers"});
    return std::find(finalizers.begin(), finalizers.end(), Json("batch.kubernetes.io/job-tracking")) !=
           finalizers.end();
  }
  /// The live pod of an index fails.
  void fail_index(const std::string& name, const std::string& index, int exit_code = 1) {
    for (const Json& pod : live_pods_of(name)) {
      if (index_of(pod) != index) continue;
      ASSERT_TRUE(cluster_.fail_pod(key_of_pod(pod), exit_code).ok());
    }
  }
  /// The containers of the live pod of an index end well.
  void complete_index(const std::string& name, const std::string& index) {
    for (const Json& pod : live_pods_of(name)) {
      if (index_of(pod) != index) continue;
      ASSERT_TRUE(cluster_.kill_container(key_of_pod(pod), "main", 0).ok());
    }
  }
  [[nodiscard]] Status patch(const std::string& name, const Json& merge) {
    const auto patched =
        cluster_.registry().patch(*cluster_.registry().resources().find_id("jobs.batch"), {"default", name}, {},
                                  {.content_type = "application/merge-patch+json", .body = merge});
    return patched ? Status() : Status(patched.error());
  }
  /// "Normal SuccessfulCreate", sorted.
  [[nodiscard]] std::vector<std::string> events_of(const std::string& name) {
    std::vector<std::string> out;
    for (const JsonPtr& event : cluster_.storage().list("events", "default")) {
      if (string_at(*event, {"involvedObject", "kind"}) != "Job") continue;
      if (string_at(*event, {"involvedObject", "name"}) != name) continue;
      out.push_back(string_at(*event, {"type"}) + " " + string_at(*event, {"reason"}));
    }
    std::sort(out.begin(), out.end());
    return out;
  }
};

}  // namespace tpuslice::sim

#include "tests/support/leaderworkerset/leaderworkersets.h"

#include <utility>

namespace tpuslice::leaderworkerset {
namespace {

const std::string kTemplate = "/spec/leaderWorkerTemplate";

}  // namespace

SetBuilder::SetBuilder(const std::string& name)
    : json_({{"apiVersion", "leaderworkerset.x-k8s.io/v1"},
             {"kind", "LeaderWorkerSet"},
             {"metadata", {{"name", name}, {"namespace", "default"}, {"uid", "uid-of-" + name}, {"generation", 1}}},
             {"spec",
              {{"leaderWorkerTemplate",
                {{"workerTemplate",
                  {{"spec", {{"containers", Json::array({{{"name", "worker"}, {"image", "worker:1"}}})}}}}}}}}}}) {}

SetBuilder& SetBuilder::replicas(int count) { return set("/spec/replicas", count); }
SetBuilder& SetBuilder::size(int pods) { return of_template("/size", pods); }

SetBuilder& SetBuilder::leader() {
  return of_template("/leaderTemplate",
                     {{"metadata", {{"labels", {{"app", "leader"}}}}},
                      {"spec", {{"containers", Json::array({{{"name", "leader"}, {"image", "leader:1"}}})}}}});
}

SetBuilder& SetBuilder::tpu(const std::string& accelerator, const std::string& topology, int chips) {
  of_template("/workerTemplate/spec/nodeSelector",
              {{"cloud.google.com/gke-tpu-accelerator", accelerator}, {"cloud.google.com/gke-tpu-topology", topology}});
  return of_template("/workerTemplate/spec/containers/0/resources/limits", {{"google.com/tpu", std::to_string(chips)}});
}

SetBuilder& SetBuilder::subgroups(int size, bool leader_excluded) {
  of_template("/subGroupPolicy", {{"subGroupSize", size}});
  return leader_excluded ? of_template("/subGroupPolicy/subGroupPolicyType", "LeaderExcluded") : *this;
}

SetBuilder& SetBuilder::rollout(Json max_unavailable, Json max_surge, int partition) {
  return set("/spec/rolloutStrategy", {{"type", "RollingUpdate"},
                                       {"rollingUpdateConfiguration",
                                        {{"maxUnavailable", std::move(max_unavailable)},
                                         {"maxSurge", std::move(max_surge)},
                                         {"partition", partition}}}});
}

SetBuilder& SetBuilder::annotation(const std::string& key, const std::string& value) {
  json_["metadata"]["annotations"][key] = value;
  return *this;
}

SetBuilder& SetBuilder::label(const std::string& key, const std::string& value) {
  json_["metadata"]["labels"][key] = value;
  return *this;
}

SetBuilder& SetBuilder::set(const std::string& pointer, Json value) {
  json_[Json::json_pointer(pointer)] = std::move(value);
  return *this;
}

SetBuilder& SetBuilder::of_template(const std::string& pointer, Json value) {
  return set(kTemplate + pointer, std::move(value));
}

SetBuilder& SetBuilder::without(const std::string& pointer) {
  const Json::json_pointer at(pointer);
  json_[at.parent_pointer()].erase(at.back());
  return *this;
}

SetBuilder a_set(const std::string& name) { return SetBuilder(name); }

}  // namespace tpuslice::leaderworkerset

// input.yaml -> plan.yaml, for each folder of tests/golden/leaderworkerset. Documents of plan.yaml: the plan for a new
// LeaderWorkerSet, the leader of group 0 after admission, the plan once that leader is ready, and the first and last
// worker of group 0 after admission.
#include <gtest/gtest.h>

#include <filesystem>

#include "api/base/check.h"
#include "api/base/file.h"
#include "api/types/yaml.h"
#include "controllers/leaderworkerset/leaderworkerset_plan.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "tests/golden/cases.h"
#include "tests/support/admission.h"
#include "tpu/rules/pod_mutator.h"

namespace tpuslice::leaderworkerset {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = "tests/golden/leaderworkerset";

/// A pod as the StatefulSet controller creates it, after admission.
Json admitted_pod(const Json& stateful_set, const std::string& name) {
  Json pod = stateful_set["spec"]["template"];
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  pod["metadata"]["name"] = name;
  pod["metadata"]["namespace"] = stateful_set["metadata"]["namespace"];
  pod["metadata"]["ownerReferences"] = Json::array({Object(stateful_set).as_controller().to_json()});
  pod["metadata"]["labels"]["apps.kubernetes.io/pod-index"] = name.substr(name.rfind('-') + 1);
  pod["spec"]["hostname"] = name;
  pod["spec"]["subdomain"] = stateful_set["spec"]["serviceName"];
  const auto admitted = rules::mutate_pod(pod, with_kinds({.gate = true, .served_kinds = {"LeaderWorkerSet"}}));
  TPUSLICE_CHECK_MSG(admitted.ok(), admitted.ok() ? "" : admitted.error().message());
  return *admitted;
}

template <typename View>
std::shared_ptr<const View> view_of(const Json& object) {
  return std::make_shared<const View>(View::from_json(object).value());
}

/// Plans group 0 of a LeaderWorkerSet until all its objects exist.
class Scene {
 public:
  explicit Scene(const Json& set) {
    seen_.set = Object(set);
    seen_.now = Timestamp(std::chrono::seconds(1'800'000'000));
  }

  [[nodiscard]] std::vector<Json> documents() {
    plan();
    const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(seen_.set);
    const std::string leader = group_name(spec, 0);
    documents_.push_back(admitted_pod(stateful_sets_.at(spec.key.name), leader));
    make_ready(documents_.back(), spec.topology_key);
    plan();
    if (const auto workers = stateful_sets_.find(leader); workers != stateful_sets_.end()) {
      documents_.push_back(admitted_pod(workers->second, leader + "-1"));
      const int count = spec.group.workers();
      if (count > 1) documents_.push_back(admitted_pod(workers->second, fmt::format("{}-{}", leader, count)));
    }
    return documents_;
  }

 private:
  void plan() {
    const plan::Plan plan = plan_leaderworkerset(seen_);
    documents_.push_back(to_json(plan));
    for (const plan::Stage& stage : plan.stages) {
      for (const plan::Action& action : stage.actions) apply(action);
    }
    if (!plan.status) return;
    Json set = seen_.set.json();
    set["status"] = plan.status->status;
    seen_.set = Object(std::move(set));
  }

  void apply(const plan::Action& action) {
    if (action.kind != plan::ActionKind::kCreate) return;
    Json object = action.body.make().value();
    object["metadata"]["uid"] = fmt::format("uid-of-{}-{}", action.type.kind, action.key.name);
    if (action.type == kControllerRevisions) seen_.revisions.push_back(view_of<ObjectView>(object));
    if (action.type == kServices) seen_.services.push_back(view_of<ServiceView>(object));
    if (action.type != kStatefulSets) return;
    seen_.stateful_sets.push_back(view_of<StatefulSetView>(object));
    stateful_sets_[action.key.name] = std::move(object);
  }

  void make_ready(Json leader, const std::string& topology_key) {
    leader["metadata"]["uid"] = "uid-of-leader";
    leader["spec"]["nodeName"] = "node-a";
    leader["status"] = {{"phase", "Running"}, {"conditions", Json::array({{{"type", "Ready"}, {"status", "True"}}})}};
    seen_.pods.push_back(view_of<PodView>(leader));
    NodeView node;
    node.key = {"", "node-a"};
    node.labels[topology_key] = "domain-a";
    seen_.nodes.push_back(std::make_shared<const NodeView>(node));
  }

  LeaderWorkerSetObserved seen_;
  std::map<std::string, Json> stateful_sets_;
  std::vector<Json> documents_;
};

class LeaderWorkerSetGolden : public testing::TestWithParam<std::string> {};

TEST_P(LeaderWorkerSetGolden, PlansAsWritten) {
  const fs::path folder = kFolder / GetParam();
  const Result<Json> input = parse_yaml(read_file(folder / "input.yaml").value());
  ASSERT_TRUE(input.ok()) << input.error().message();
  golden::expect_as_written(Scene(*input).documents(), folder / "plan.yaml");
}

INSTANTIATE_TEST_SUITE_P(Cases, LeaderWorkerSetGolden, testing::ValuesIn(golden::cases(kFolder)), golden::name_of);

}  // namespace
}  // namespace tpuslice::leaderworkerset

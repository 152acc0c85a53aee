// input.yaml -> objects.yaml, for each folder of tests/golden/leaderworkerset: a LeaderWorkerSet, and all that is made
// from it for the first of its groups: the pods as admission lets them in.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "api/types/yaml.h"
#include "controllers/leaderworkerset/labels.h"
#include "controllers/leaderworkerset/leader_set.h"
#include "controllers/leaderworkerset/placement.h"
#include "controllers/leaderworkerset/revisions.h"
#include "controllers/leaderworkerset/services.h"
#include "controllers/leaderworkerset/worker_set.h"
#include "tests/golden/cases.h"
#include "webhook/rules/leaderworkerset/validator.h"
#include "webhook/rules/pod_mutator.h"

namespace tpuslice::leaderworkerset {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = "tests/golden/leaderworkerset";

/// The pod that the StatefulSet controller makes, and admission changes.
Json pod_of(const Json& set, const std::string& name) {
  Json pod = set["spec"]["template"];
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  pod["metadata"]["name"] = name;
  pod["metadata"]["namespace"] = set["metadata"]["namespace"];
  pod["metadata"]["ownerReferences"] = Json::array({Object(set).as_controller().to_json()});
  pod["metadata"]["labels"]["apps.kubernetes.io/pod-index"] = name.substr(name.rfind('-') + 1);
  pod["spec"]["hostname"] = name;
  pod["spec"]["subdomain"] = set["spec"]["serviceName"];
  const auto admitted = webhook::mutate_pod(pod, {.gate = true, .leader_worker_sets = true});
  EXPECT_TRUE(admitted.ok()) << (admitted.ok() ? "" : admitted.error().message());
  return admitted.value_or(Json());
}

Json objects_of(const Object& set) {
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(set);
  const Json data = revision_data(set.json());
  Json objects = Json::array({build_revision(spec, data, 1)});
  Json leaders = build_leader_set(spec, {.revision_key = revision_hash(data), .replicas = spec.replicas});
  objects.push_back(leaders);
  leaders["metadata"]["uid"] = "uid-of-leader-set";
  Json leader = pod_of(leaders, group_name(spec, 0));
  objects.push_back(leader);
  leader["metadata"]["uid"] = "uid-of-leader";

  const Json then = groups_of(data, set.json());
  const GroupTemplate group = GroupTemplate::read(then);
  const PodView view = *PodView::from_json(leader);
  const Leader owner = Leader::read(spec, view, 0, group);
  objects.push_back(group.service_per_group ? build_group_service(spec, owner) : build_shared_service(spec));
  if (group.workers() == 0) return objects;
  const bool decides =
      leader_decides(spec, group, string_at(leader, {"metadata", "annotations", std::string(tpu::kSliceLeader)}));
  Json workers = build_worker_set(spec, group, owner, decides ? Domain{spec.topology_key, "domain-a"} : Domain{});
  objects.push_back(workers);
  workers["metadata"]["uid"] = "uid-of-worker-set";
  objects.push_back(pod_of(workers, owner.name + "-1"));
  if (group.workers() > 1) objects.push_back(pod_of(workers, owner.name + "-" + std::to_string(group.workers())));
  return objects;
}

class LeaderWorkerSetGolden : public testing::TestWithParam<std::string> {};

TEST_P(LeaderWorkerSetGolden, IsMadeAsWritten) {
  const fs::path folder = kFolder / GetParam();
  const Result<Json> input = parse_yaml(golden::read(folder / "input.yaml"));
  ASSERT_TRUE(input.ok()) << input.error().message();
  EXPECT_EQ(webhook::to_message(webhook::validate_leaderworkerset(*input, nullptr)), "");
  std::string now;
  for (const Json& object : objects_of(Object(*input))) now += (now.empty() ? "" : "---\n") + to_yaml(object);
  golden::expect_as_written(now, folder / "objects.yaml");
}

INSTANTIATE_TEST_SUITE_P(Cases, LeaderWorkerSetGolden, testing::ValuesIn(golden::cases(kFolder)), golden::name_of);

}  // namespace
}  // namespace tpuslice::leaderworkerset

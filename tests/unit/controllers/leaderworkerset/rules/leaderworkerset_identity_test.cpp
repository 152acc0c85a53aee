// Pods of accepted LeaderWorkerSets have consistent identities.
#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "tests/support/admission.h"
#include "tests/unit/tpu/rules/leaderworkersets.h"
#include "tpu/identity.h"
#include "tpu/labels.h"
#include "tpu/rules/workload_kinds.h"

namespace tpuslice::rules {
namespace {

using testing::group_of;
using testing::Leader;

bool has_chips(const Json& pod) { return find_path(pod, {"spec", "containers", "0", "resources"}) != nullptr; }

/// Pod `index` of the first group, as upstream's controllers create it.
Json pod_of_group(const Json& set, int index) {
  const Json& groups = set["spec"]["leaderWorkerTemplate"];
  const std::string leader = set["metadata"]["name"].get<std::string>() + "-0";
  Json pod = groups[index == 0 ? "leaderTemplate" : "workerTemplate"];
  pod["metadata"]["name"] = index == 0 ? leader : leader + "-" + std::to_string(index);
  pod["metadata"]["namespace"] = "default";
  pod["metadata"]["labels"][std::string(leaderworkerset::kLwsName)] = set["metadata"]["name"];
  pod["spec"]["subdomain"] = set["metadata"]["name"];
  Json& annotations = pod["metadata"]["annotations"];
  annotations[std::string(leaderworkerset::kLwsSize)] = groups["size"].dump();
  if (index > 0) annotations[std::string(leaderworkerset::kLwsLeaderName)] = leader;
  if (index > 0 && has_chips(groups["leaderTemplate"]))
    annotations[std::string(leaderworkerset::kLwsLeaderHasTpus)] = "true";
  if (groups.contains("subGroupPolicy")) {
    const Json& policy = groups["subGroupPolicy"];
    annotations[std::string(leaderworkerset::kLwsSubgroupSize)] = policy["subGroupSize"].dump();
    annotations[std::string(leaderworkerset::kLwsSubgroupPolicy)] = policy.value("subGroupPolicyType", "LeaderWorker");
  }
  return pod;
}

/// The pods of each slice have the host indexes 0 to hosts - 1.
void expect_whole_slices(const Json& set, int hosts) {
  std::map<std::string, std::vector<int>> slices;
  for (int index = 0; index < set["spec"]["leaderWorkerTemplate"]["size"]; ++index) {
    const Json pod = pod_of_group(set, index);
    if (!has_chips(pod)) continue;
    const auto identity = identity_of_pod(pod);
    ASSERT_TRUE(identity.ok() && identity->has_value()) << pod;
    EXPECT_EQ((*identity)->hosts, hosts) << pod;
    slices[(*identity)->slice_name].push_back((*identity)->host_index);
  }
  std::vector<int> ids;
  for (int id = 0; id < hosts; ++id) ids.push_back(id);
  EXPECT_FALSE(slices.empty());
  for (const auto& [name, found] : slices) EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(ids)) << name;
}

TEST(AcceptedLeaderWorkerSet, ConsistsOfWholeSlices) {
  const std::map<const char*, int> hosts = {{"2x2", 1}, {"2x4", 2}, {"4x4", 4}};
  int accepted = 0;
  int rejected = 0;
  for (const Leader leader : {Leader::kWithoutTpus, Leader::kWithTpus, Leader::kAlone}) {
    for (const auto& [topology, count] : hosts) {
      for (int size = 2; size <= 13; ++size) {
        for (int subgroup = 0; subgroup <= size; ++subgroup) {
          for (const bool excluded : {false, true}) {
            if (excluded && subgroup == 0) continue;
            const Json set = group_of(leader, topology, size, subgroup, excluded);
            const bool valid = testing::set_errors(set).empty();
            (valid ? accepted : rejected) += 1;
            SCOPED_TRACE(std::to_string(size) + "/" + std::to_string(subgroup) + (excluded ? " excluded " : " ") +
                         topology);
            if (valid) expect_whole_slices(set, count);
          }
        }
      }
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(rejected, 100);
}

}  // namespace
}  // namespace tpuslice::rules

// An AdmissionCheck of Kueue that asks a cluster autoscaler for capacity with a ProvisioningRequest. The test plays the
// autoscaler.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "tests/e2e/kueue/kueue_plane.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

class KueueProvisioning : public KueueTest {
 protected:
  /// The ProvisioningRequest without any condition, once there is one.
  std::optional<Object> next_request() {
    std::optional<Object> request;
    const bool found = eventually([&] {
      const auto list = client().list(kProvisioningRequests, {.namespace_name = "default"}, {});
      if (!list) return false;
      for (const std::string& text : list->items) {
        Object candidate(Json::parse(text));
        if (array_at(candidate.json(), {"status", "conditions"}).empty()) request = std::move(candidate);
      }
      return request.has_value();
    });
    EXPECT_TRUE(found) << "no ProvisioningRequest";
    return request;
  }

  void set_conditions(const Object& request, const std::vector<std::string>& types, const Json& details = {}) {
    Json conditions = Json::array();
    for (const std::string& type : types) {
      conditions.push_back({{"type", type},
                            {"status", "True"},
                            {"reason", "Test"},
                            {"message", "set by the test"},
                            {"lastTransitionTime", format_rfc3339(RealClock().wall())}});
    }
    Json status = {{"conditions", std::move(conditions)}};
    if (!details.is_null()) status["provisioningClassDetails"] = details;
    const auto updated = client().update_status(kProvisioningRequests, request.key(), status, {});
    ASSERT_TRUE(updated.ok()) << updated.error().message();
  }
};

TEST_F(KueueProvisioning, SliceStartsInThePoolThatTheAutoscalerProvides) {
  const QueuedWorkload train{.name = "train", .queue = "provisioned", .slices = 1};
  create(make_provisioning_check("flex-start"));
  create(make_queue({.name = train.queue, .chips = train.chips(), .admission_check = "flex-start"}));
  create(WorkloadKind::kJobSet, train);

  const auto refused = next_request();
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(string_at(refused->json(), {"spec", "provisioningClassName"}), "queued-provisioning.gke.io");
  const Json& sets = array_at(refused->json(), {"spec", "podSets"});
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(int_at(sets[0], {"count"}), 4) << "all hosts of the slice";
  set_conditions(*refused, {"Failed"});

  const auto accepted = next_request();
  ASSERT_TRUE(accepted.has_value());
  set_conditions(*accepted, {"Accepted"});
  tpuslice::pause(1s, {});
  EXPECT_TRUE(slices_of("train").empty()) << "started without capacity";
  expect_condition("train", "Admitted", "");

  set_conditions(*accepted, {"Accepted", "Provisioned"}, {{"NodePoolName", "p4x4-02"}});
  expect_running(train, "in the pool that was provided");
  for (const auto& [slice, members] : slices_of("train")) {
    for (const Json& pod : members) {
      EXPECT_EQ(pool_of_node(string_at(pod, {"spec", "nodeName"})), "p4x4-02") << slice;
      EXPECT_EQ(string_at(pod, {"metadata", "annotations", "autoscaling.x-k8s.io/consume-provisioning-request"}),
                accepted->name());
    }
  }
  expect_condition("train", "PodsReady", "True");
}

}  // namespace
}  // namespace tpuslice::testing

// A quota that has room for a RayCluster once: a slice is created again when its old pods are gone, and not tried all
// the time before.
#include <string>

#include <gtest/gtest.h>

#include "api/base/pause.h"
#include "tests/e2e/faults/fault_plane.h"
#include "tests/e2e/faults/ray_namespace.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
using QuotaTest = FaultTest;

constexpr ResourceType kQuotas{"", "v1", "ResourceQuota", "resourcequotas"};
constexpr const char* kQuotaOfPods = "count/pods";

Object quota(const std::string& namespace_name, int pods) {
  return Object({{"apiVersion", "v1"},
                 {"kind", "ResourceQuota"},
                 {"metadata", {{"name", "pods"}, {"namespace", namespace_name}}},
                 {"spec", {{"hard", {{kQuotaOfPods, std::to_string(pods)}}}}}});
}

/// Pods with a finalizer stay after they have terminated.
void set_finalizers(client::Client& client, const std::string& namespace_name, const Json& finalizers) {
  const auto pods = client.list(kPods, {.namespace_name = namespace_name}, {});
  ASSERT_TRUE(pods.ok());
  for (const std::string& text : pods->items) {
    const Object pod(Json::parse(text));
    const auto patched =
        client.patch(kPods, pod.key(), client::PatchType::kMerge, {{"metadata", {{"finalizers", finalizers}}}}, {});
    ASSERT_TRUE(patched.ok()) << patched.error().message();
  }
}

TEST_F(QuotaTest, RefusesTheNextAttemptOnceAndItIsCreatedWhenTheLastIsGone) {
  RayNamespace space(client(), "quota");
  ASSERT_TRUE(space.create().ok());
  auto op = start_operator(false);
  ASSERT_TRUE(op.ok()) << op.error().message();
  ASSERT_TRUE(space.apply().ok());
  ASSERT_TRUE(eventually([&] { return space.ready(); }));
  const auto before = space.worker_uids();
  const std::string pods = std::to_string(RayNamespace::kHosts + 1);
  ASSERT_TRUE(client().create(kQuotas, quota(space.name(), RayNamespace::kHosts + 1)).ok());
  ASSERT_TRUE(eventually([&] {
    const auto live = client().get(kQuotas, {space.name(), "pods"});
    return live && string_at(live->json(), {"status", "used", kQuotaOfPods}) == pods;
  }));
  ASSERT_NO_FATAL_FAILURE(set_finalizers(client(), space.name(), Json::array({"example.com/hold"})));

  const auto refused = [&] { return (*op)->metric("rest_client_requests_total", {{"code", "403"}}).value_or(0); };
  ASSERT_TRUE(space.fail_worker(1).ok());
  ASSERT_TRUE(eventually([&] { return refused() > 0; }));
  pause(3s, {});
  EXPECT_EQ(refused(), 1) << "the operator goes on trying while its old pods exist";

  ASSERT_NO_FATAL_FAILURE(set_finalizers(client(), space.name(), nullptr));
  EXPECT_TRUE(eventually([&] { return space.rebuilt(before); }));
  EXPECT_TRUE((*op)->stop().ok());
}

}  // namespace
}  // namespace tpuslice::testing

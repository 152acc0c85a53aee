#include "cmd/tpu-slice-sim/cluster/owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Json pod_of(const std::string& controller = {}) {
  Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "p"}, {"namespace", "default"}}}};
  if (!controller.empty()) {
    add_owner(pod, controller_reference(
                       {{"apiVersion", "apps/v1"}, {"kind", "StatefulSet"}, {"metadata", {{"uid", controller}}}}));
  }
  return pod;
}

Change a_change(ChangeType type, const Json& object, const Json& previous = {}) {
  Change change;
  change.type = type;
  change.resource = "pods";
  change.key = {"default", "p"};
  change.object = std::make_shared<const Json>(object);
  if (!previous.is_null()) change.previous = std::make_shared<const Json>(previous);
  return change;
}

const ObjectKey kPod{"default", "p"};

TEST(Owners, OnlyOneIsTheController) {
  Json pod = pod_of();
  EXPECT_EQ(controller_uid(pod), "");
  add_owner(pod, {{"uid", "friend"}});
  EXPECT_EQ(controller_of(pod), nullptr);
  add_owner(pod,
            controller_reference(
                {{"apiVersion", "apps/v1"}, {"kind", "StatefulSet"}, {"metadata", {{"name", "web"}, {"uid", "u"}}}}));
  EXPECT_EQ(controller_uid(pod), "u");
  EXPECT_TRUE(owned_by(pod, "friend"));
  remove_owner(pod, "u");
  EXPECT_EQ(controller_uid(pod), "");
  remove_owner(pod, "friend");
  EXPECT_FALSE(pod["metadata"].contains("ownerReferences"));
}

TEST(Dependents, FollowTheirController) {
  Dependents index;
  index.observe(a_change(ChangeType::kAdded, pod_of()));
  EXPECT_THAT(index.orphans("default"), ElementsAre(kPod));
  index.observe(a_change(ChangeType::kModified, pod_of("first"), pod_of()));
  EXPECT_THAT(index.orphans("default"), IsEmpty());
  EXPECT_THAT(index.of("first"), ElementsAre(kPod));
  index.observe(a_change(ChangeType::kModified, pod_of("second"), pod_of("first")));
  EXPECT_THAT(index.of("first"), IsEmpty());
  EXPECT_THAT(index.of("second"), ElementsAre(kPod));
  index.observe(a_change(ChangeType::kDeleted, pod_of("second"), pod_of("second")));
  EXPECT_THAT(index.of("second"), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::sim

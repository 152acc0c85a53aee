#include "controllers/plan/finalizers.h"

#include <utility>

#include <gtest/gtest.h>

namespace tpuslice::plan {
namespace {

constexpr std::string_view kHold = "example.com/hold";

Object a_pod(const Json& finalizers) {
  Json pod = {{"metadata", {{"namespace", "default"}, {"name", "a"}, {"uid", "uid-of-a"}, {"resourceVersion", "7"}}}};
  pod["metadata"]["finalizers"] = finalizers;
  return Object(std::move(pod));
}

Json finalizers_in(const Action& patch) { return patch.body.make().value()["metadata"]["finalizers"]; }

TEST(Finalizers, AreFoundByTheirWholeName) {
  EXPECT_TRUE(has_finalizer(a_pod({"orphan", kHold}), kHold));
  EXPECT_FALSE(has_finalizer(a_pod({"example.com/hold-it", "example.com"}), kHold));
  EXPECT_FALSE(has_finalizer(a_pod(nullptr), kHold));
  EXPECT_FALSE(has_finalizer(Object(Json::object()), kHold));
}

TEST(Finalizers, OfOthersStayInTheirOrder) {
  EXPECT_EQ(finalizers_in(add_finalizer(kPods, a_pod({"b", "a"}), kHold)), Json({"b", "a", kHold}));
  EXPECT_EQ(finalizers_in(remove_finalizer(kPods, a_pod({"b", kHold, "a"}), kHold)), Json({"b", "a"}));
}

TEST(Finalizers, AreAddedToAnObjectWithoutAnyAndRemovedAsTheLast) {
  EXPECT_EQ(finalizers_in(add_finalizer(kPods, a_pod(nullptr), kHold)), Json::array({kHold}));
  EXPECT_EQ(finalizers_in(remove_finalizer(kPods, a_pod({kHold}), kHold)), Json::array());
}

TEST(Finalizers, ArePatchedOnlyIfTheObjectIsAsItWasObserved) {
  for (const Action& action :
       {add_finalizer(kPods, a_pod(nullptr), kHold), remove_finalizer(kPods, a_pod({kHold}), kHold)}) {
    EXPECT_EQ(action.kind, ActionKind::kPatch);
    EXPECT_EQ(action.type, kPods);
    EXPECT_EQ(action.key, (ObjectKey{"default", "a"}));
    EXPECT_EQ(action.subresource, "");
    EXPECT_EQ(action.preconditions, (Preconditions{.uid = "uid-of-a", .resource_version = "7"}));
    EXPECT_EQ(action.failure_reason, "FailedFinalizer");
  }
}

}  // namespace
}  // namespace tpuslice::plan

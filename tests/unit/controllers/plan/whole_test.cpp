#include "controllers/plan/whole.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/views.h"

namespace tpuslice::plan {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

template <typename View>
std::shared_ptr<const View> a_view(const std::string& name, bool minimal) {
  View view;
  view.key = {"default", name};
  view.minimal = minimal;
  return std::make_shared<const View>(std::move(view));
}

const ObjectKey kTrain{"default", "train"};

TEST(WorkloadsWithMinimalObjects, AreLeftAsTheyAre) {
  const std::vector<std::shared_ptr<const PodView>> pods = {a_view<PodView>("pod-0", false),
                                                            a_view<PodView>("pod-1", true)};
  const auto plan = wait_until_whole(kTrain, a_view<ObjectView>("train", false), pods);
  ASSERT_TRUE(plan.has_value());
  EXPECT_THAT(plan->stages, IsEmpty());
  EXPECT_FALSE(plan->status.has_value());
  EXPECT_TRUE(plan->keeps_failure);
  ASSERT_THAT(plan->events, SizeIs(1));
  EXPECT_THAT(plan->events[0].message, HasSubstr("pod-1"));
}

TEST(WorkloadsWithMinimalObjects, HaveTheEventOfTheirWatchIfTheyAreMinimalThemselves) {
  const auto plan = wait_until_whole(kTrain, a_view<ObjectView>("train", true));
  ASSERT_TRUE(plan.has_value());
  EXPECT_TRUE(plan->empty());
}

TEST(WorkloadsWithMinimalObjects, AreOnlyThoseWithOne) {
  EXPECT_FALSE(wait_until_whole(kTrain, a_view<ObjectView>("train", false), a_view<JobView>("job", false),
                                std::shared_ptr<const ServiceView>(), std::vector<std::shared_ptr<const PodView>>())
                   .has_value());
}

}  // namespace
}  // namespace tpuslice::plan

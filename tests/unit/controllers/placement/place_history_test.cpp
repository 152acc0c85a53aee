#include "controllers/placement/place_history.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/placement/scenes.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

SliceBuilder train() { return a_slice("train").created(1min).runs_in("pool-a", 2min); }

class Places : public ::testing::Test {
 protected:
  void change(const PodPtr& before, const PodPtr& after_it, Duration when) {
    const NodePtr node = before == nullptr || before->node_name.empty() ? nullptr : nodes_.at(0);
    history_.record(before, after_it, node, after(when));
  }
  [[nodiscard]] const FormerPlace* place() const {
    places_ = history_.places();
    const auto found = places_->find(train().key());
    return found == places_->end() ? nullptr : &found->second;
  }

  const std::vector<NodePtr> nodes_ = a_pool("pool-a").nodes();
  PlaceHistory history_;
  mutable std::shared_ptr<const FormerPlaces> places_;
};

TEST_F(Places, AreThoseOfPodsThatAreDeletedOrFail) {
  for (const SliceBuilder& lost : {train().terminating(1), train().fails(1)}) {
    PlaceHistory history;
    history.record(train().pod(1), lost.pod(1), nodes_.at(1), after(1h));
    const FormerPlace& place = history.places()->at(train().key());
    EXPECT_EQ(place.domain, DomainName(kGkePool, "pool-a"));
    EXPECT_EQ(place.queued_since, after(1min));
    EXPECT_EQ(place.left, after(1h));
    EXPECT_EQ(place.user, display_name(*train().pod(1)));
    EXPECT_EQ(place.workload, workload_of(*train().pod(1)));
  }
  change(train().pod(0), nullptr, 1h);
  EXPECT_NE(place(), nullptr) << "deleted without a grace period";
}

TEST_F(Places, AreLeftWhenTheLastPodIsGone) {
  change(train().pod(0), train().terminating(0).pod(0), 1h);
  change(train().terminating(0).pod(0), nullptr, 1h + 30s);
  ASSERT_NE(place(), nullptr);
  EXPECT_EQ(place()->left, after(1h + 30s));
}

TEST_F(Places, AreNotThoseOfPodsThatSucceed) {
  change(train().pod(0), train().succeeds(0).pod(0), 1h);
  change(train().succeeds(0).pod(0), nullptr, 1h);
  change(nullptr, train().pod(0), 1h);
  EXPECT_EQ(place(), nullptr);
}

TEST_F(Places, HaveNoDomainIfTheSliceWasWaiting) {
  change(a_slice("train").created(30s).pod(0), nullptr, 1h);
  ASSERT_NE(place(), nullptr);
  EXPECT_EQ(place()->domain, DomainName());
  change(train().pod(0), nullptr, 1h);
  EXPECT_EQ(place()->domain, DomainName(kGkePool, "pool-a"));
  EXPECT_EQ(place()->queued_since, after(30s));
  change(a_slice("train").pod(1), nullptr, 1h);
  EXPECT_EQ(place()->domain, DomainName(kGkePool, "pool-a")) << "one of its hosts was still gated";
}

TEST_F(Places, AreNotThoseOfAGangThatWaits) {
  change(a_slice("train").gang("g", 2).pod(0), nullptr, 1h);
  EXPECT_EQ(place(), nullptr) << "it would start without the others, as one that has run does";
  change(train().gang("g", 2).pod(0), nullptr, 1h);
  EXPECT_NE(place(), nullptr);
}

TEST_F(Places, AreForgottenWhenTheSliceIsPlacedAgain) {
  change(train().pod(0), nullptr, 1h);
  change(a_slice("train").pod(0), a_slice("train").placed_in("pool-b").pod(0), 1h + 1s);
  EXPECT_EQ(place(), nullptr);
}

TEST_F(Places, HaveNoDomainIfAPodHadNoNodeInIt) {
  change(train().pod(0), nullptr, 1h);
  change(train().unscheduled(1).pod(1), nullptr, 1h);
  change(train().pod(0), nullptr, 1h);
  ASSERT_NE(place(), nullptr);
  EXPECT_EQ(place()->domain.second, "") << "it could not run there";
  EXPECT_EQ(place()->queued_since, after(1min));
}

TEST_F(Places, AreThoseOfAPreemptedSliceWhicheverPodIsDeletedFirst) {
  const auto preempted = [](PodView& pod) { pod.disruption = tpu::kPreemptionBySlice; };
  change(train().pod(0), train().host(0, preempted).terminating(0).pod(0), 1h);
  ASSERT_NE(place(), nullptr);
  EXPECT_TRUE(place()->was_preempted);
  change(train().pod(1), nullptr, 1h);
  EXPECT_TRUE(place()->was_preempted);
  change(a_slice("train").pod(0), train().pod(0), 2h);
  change(train().pod(0), nullptr, 3h);
  EXPECT_FALSE(place()->was_preempted) << "it has run again";
}

TEST_F(Places, KeepTheEarliestTimeInTheQueue) {
  const auto queued = [](PodView& pod) { pod.annotations[std::string(tpu::kQueuedSince)] = "2026-01-01T00:00:30Z"; };
  change(train().host(0, queued).pod(0), nullptr, 1h);
  change(train().pod(1), nullptr, 1h);
  ASSERT_NE(place(), nullptr);
  EXPECT_EQ(place()->queued_since, after(30s));
}

TEST_F(Places, AreOfOneWorkload) {
  const auto other = [](PodView& pod) { pod.controller->uid = "uid-of-an-earlier-job"; };
  change(train().created(0s).host(0, other).pod(0), nullptr, 1h);
  change(train().pod(1), nullptr, 2h);
  ASSERT_NE(place(), nullptr);
  EXPECT_EQ(place()->queued_since, after(1min));
}

TEST_F(Places, DoNotChangeWhileTheyAreRead) {
  change(train().pod(0), nullptr, 1h);
  const std::shared_ptr<const FormerPlaces> read = history_.places();
  change(a_slice("other").runs_in("pool-a").pod(0), nullptr, 1h);
  EXPECT_THAT(*read, SizeIs(1));
  EXPECT_THAT(*history_.places(), SizeIs(2));
}

TEST_F(Places, AreBoundedAndForgotten) {
  for (std::size_t i = 0; i < PlaceHistory::kMaxSlices + 10; ++i) {
    change(a_slice(fmt::format("s{}", i)).runs_in("pool-a").pod(0), nullptr, std::chrono::milliseconds(i));
  }
  EXPECT_EQ(history_.places()->size(), PlaceHistory::kMaxSlices);
  EXPECT_FALSE(history_.places()->contains({"default", "s0"})) << "the oldest";
  for (std::size_t i = 0; i < 100; ++i) {
    change(a_slice(fmt::format("t{}", i)).runs_in("pool-a").pod(0), nullptr, 1h);
  }
  EXPECT_LE(history_.places()->size(), 100);
}

}  // namespace
}  // namespace tpuslice::placement

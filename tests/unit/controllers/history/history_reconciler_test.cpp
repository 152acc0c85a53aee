#include "controllers/history/history_reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"
#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/history/interruptions.h"
#include "tpu/labels.h"

namespace tpuslice::history {
namespace {

using namespace std::chrono_literals;
using slice::after;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr const char* kSystem = "tpu-slice-system";

/// A replica: its stores, and what it has in memory.
struct Replica {
  Replica() {
    for (std::size_t page = 0; page < kPages; ++page) {
      stores.push_back(std::make_unique<runtime::Store<HistoryPage>>(kConfigMaps));
      pages.at(page) = stores.back().get();
    }
    reconciler = std::make_unique<HistoryReconciler>(pages, slice::Indexes(pod_stores), journal, kSystem);
  }
  plan::Plan plan(Duration now = {}) {
    Result<plan::Plan> out = reconciler->plan({history_key(), after(now), std::nullopt});
    EXPECT_TRUE(out.ok());
    return *std::move(out);
  }

  Metrics metrics;
  runtime::PodStore pods{kPods};
  runtime::PodStores pod_stores{{&pods}};
  std::vector<std::unique_ptr<runtime::Store<HistoryPage>>> stores;
  PageStores pages{};
  std::shared_ptr<Journal> journal = std::make_shared<Journal>(metrics);
  std::unique_ptr<HistoryReconciler> reconciler;
};

class HistoryWrites : public ::testing::Test {
 protected:
  /// The API server, as the stores of a replica show it.
  void show_to(Replica& replica) const {
    for (std::size_t page = 0; page < kPages; ++page) {
      std::vector<HistoryPage> all;
      if (const auto found = server_.find(page); found != server_.end()) all.push_back(found->second);
      replica.stores.at(page)->replace(std::move(all), 1);
    }
  }
  /// Carries out the only action of the plan. False for a conflict.
  bool write(const plan::Plan& plan) {
    const plan::Action& action = plan.stages.at(0).actions.at(0);
    const auto page = static_cast<std::size_t>(action.key.name.back() - '0');
    HistoryPage& written = server_[page];
    if (action.kind == plan::ActionKind::kCreate && !written.uid.empty()) return false;
    if (action.kind == plan::ActionKind::kPatch && action.preconditions.resource_version != written.resource_version) {
      return false;
    }
    written.key = action.key;
    written.uid = action.key.name;
    written.resource_version = std::to_string(++revision_);
    written.records = string_at(*action.body.make(), {"data", "records"});
    return true;
  }
  [[nodiscard]] std::vector<std::string> placements() const {
    Replica reader;
    show_to(reader);
    std::vector<std::string> out;
    const std::optional<Ring> ring = read_ring(reader.pages, kSystem);
    for (const auto& [sequence, record] : ring->records()) out.push_back(record.placement);
    return out;
  }

  std::map<std::size_t, HistoryPage> server_;
  int revision_ = 0;
};

TEST_F(HistoryWrites, CreateAndThenPatchOneConfigMap) {
  Replica replica;
  show_to(replica);
  EXPECT_TRUE(replica.plan().empty());
  replica.journal->record(an_interruption(1));
  const plan::Plan first = replica.plan();
  ASSERT_THAT(stages_of(first), ElementsAre(ElementsAre("create ConfigMap tpu-slice-history-0")));
  EXPECT_EQ(first.requeue_after, Duration(10s));
  ASSERT_TRUE(write(first));
  show_to(replica);
  EXPECT_TRUE(replica.plan().empty());
  EXPECT_EQ(replica.plan().requeue_after, std::nullopt) << "nothing is due";
  replica.journal->record(an_interruption(2));
  const plan::Plan second = replica.plan();
  ASSERT_THAT(stages_of(second), ElementsAre(ElementsAre("patch ConfigMap tpu-slice-history-0")));
  EXPECT_EQ(second.stages[0].actions[0].preconditions, (plan::Preconditions{"tpu-slice-history-0", "1"}));
  ASSERT_TRUE(write(second));
  EXPECT_THAT(placements(), ElementsAre("members-1", "members-2"));
}

TEST_F(HistoryWrites, AreOfOnePageAtATime) {
  Replica replica;
  show_to(replica);
  for (int number = 0; number < 450; ++number) replica.journal->record(an_interruption(number));
  for (const char* page : {"create ConfigMap tpu-slice-history-0", "create ConfigMap tpu-slice-history-1",
                           "create ConfigMap tpu-slice-history-2"}) {
    const plan::Plan plan = replica.plan();
    ASSERT_THAT(stages_of(plan), ElementsAre(ElementsAre(page)));
    ASSERT_TRUE(write(plan));
    show_to(replica);
  }
  EXPECT_TRUE(replica.plan().empty());
  EXPECT_THAT(placements(), SizeIs(450));
}

TEST_F(HistoryWrites, OfANewLeaderDoubleNothing) {
  Replica old_leader;
  show_to(old_leader);
  old_leader.journal->record(an_interruption(1));
  ASSERT_TRUE(write(old_leader.plan()));
  // It ends in the middle of the deletes of placement 2, which the next leader completes.
  old_leader.journal->record(an_interruption(2));
  ASSERT_TRUE(write([&] {
    show_to(old_leader);
    return old_leader.plan();
  }()));
  Replica leader;
  show_to(leader);
  EXPECT_TRUE(leader.plan().empty());
  leader.journal->record(an_interruption(2, 5s));
  EXPECT_TRUE(leader.plan().empty());
  leader.journal->record(an_interruption(3, 6s));
  ASSERT_TRUE(write(leader.plan()));
  EXPECT_THAT(placements(), ElementsAre("members-1", "members-2", "members-3"));
}

TEST_F(HistoryWrites, FailIfAnotherLeaderWasFaster) {
  Replica slow;
  show_to(slow);
  slow.journal->record(an_interruption(1));
  const plan::Plan outdated = slow.plan();
  Replica fast;
  show_to(fast);
  fast.journal->record(an_interruption(2));
  ASSERT_TRUE(write(fast.plan()));
  EXPECT_FALSE(write(outdated));
  show_to(slow);
  ASSERT_TRUE(write(slow.plan()));
  EXPECT_THAT(placements(), ElementsAre("members-2", "members-1"));
}

TEST_F(HistoryWrites, WaitUntilTheHistoryCanBeRead) {
  Replica replica;
  replica.journal->record(an_interruption(1));
  const plan::Plan plan = replica.plan();
  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(plan.requeue_after, Duration(10s));
}

TEST_F(HistoryWrites, AddRecoveriesThatNoLeaderHasSeen) {
  plan::Interruption interruption = an_interruption(1, 60s);
  interruption.workload = {"batch/v1", "Job", {"default", "job"}, "uid-of-job", {}};
  interruption.slice = {"default", "train"};
  Replica old_leader;
  show_to(old_leader);
  old_leader.journal->record(interruption);
  ASSERT_TRUE(write(old_leader.plan(61s)));
  Replica leader;
  show_to(leader);
  for (const auto& pod : slice::a_slice("train").created(70s).runs_in("pool-b", 71s).pods()) leader.pods.put(*pod);
  leader.journal->on_change([] {});
  EXPECT_TRUE(leader.plan(100s).empty()) << "it is written by the next plan";
  const plan::Plan plan = leader.plan(110s);
  ASSERT_THAT(stages_of(plan), ElementsAre(ElementsAre("patch ConfigMap tpu-slice-history-0")));
  ASSERT_TRUE(write(plan));
  show_to(leader);
  const Ring ring = *read_ring(leader.pages, kSystem);
  EXPECT_EQ(ring.records().at(0).recovery, (Recovery{after(100s), "pool-b"}));
}

TEST(HistoryPageView, KeepsTheRecordsOnly) {
  const auto page = HistoryPage::decode(
      R"({"metadata": {"name": "tpu-slice-history-0", "namespace": "s", "uid": "u", "resourceVersion": "7"},
          "data": {"other": "x", "records": "{}\n"}})");
  ASSERT_TRUE(page.ok()) << page.error().message();
  EXPECT_EQ(page->key, page_key("s", 0));
  EXPECT_EQ(page->records, "{}\n");
  EXPECT_THAT(HistoryPage::decode(R"({"metadata": {}})"), IsError(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace tpuslice::history

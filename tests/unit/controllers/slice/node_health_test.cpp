#include "controllers/slice/node_health.h"

#include <gtest/gtest.h>

#include "tests/support/slice/slices.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;

/// Twenty nodes, all Ready.
class Health : public ::testing::Test {
 protected:
  void observe(const Options& options) {
    health_.emplace(options, after(0s));
    for (const NodePtr& node : nodes_) health_->record(nullptr, node, after(0s));
  }
  void lose(std::size_t count, Duration when) {
    for (std::size_t i = 0; i < count; ++i) change(i, with(nodes_[i], not_ready), when);
  }
  void change(std::size_t index, const NodePtr& node, Duration when) {
    health_->record(nodes_[index], node, after(when));
    if (node != nullptr) nodes_[index] = node;
  }
  [[nodiscard]] Timestamp since(Duration now) const { return health_->healthy_since(after(now)); }

  const std::vector<NodePtr> ready_ = a_pool("pool-a").size(20).nodes();
  std::vector<NodePtr> nodes_ = ready_;
  std::optional<NodeHealth> health_;
};

TEST_F(Health, IsDisruptedByTheShareOfNodes) {
  observe({.disrupted_percent = 55});
  lose(10, 1min);
  EXPECT_EQ(since(2min), after(0s));
  lose(11, 2min);
  EXPECT_EQ(since(3min), after(3min));
}

TEST_F(Health, IsNotDisruptedByAFewNodes) {
  observe({.disrupted_nodes = 11});
  lose(11, 1min);
  EXPECT_EQ(since(2min), after(0s));
  observe({.disrupted_nodes = 10});
  EXPECT_EQ(since(2min), after(2min));
}

TEST_F(Health, IsDisruptedUntilFewerNodesAreNotReady) {
  observe({});
  lose(11, 1min);
  change(0, ready_[0], 10min);
  EXPECT_EQ(since(11min), after(10min));
  change(1, ready_[1], 12min);
  EXPECT_EQ(since(13min), after(10min));
}

TEST_F(Health, CountsDeletedNodesNoMore) {
  observe({});
  lose(11, 1min);
  for (std::size_t i = 0; i < 9; ++i) change(i, nullptr, 5min);
  EXPECT_EQ(since(6min), after(5min)) << "2 of 11 are not Ready";
}

TEST_F(Health, DoesNotCountNodesThatCannotBeRead) {
  observe({});
  for (std::size_t i = 0; i < 20; ++i) change(i, with(nodes_[i], unreadable), 1min);
  EXPECT_EQ(since(2min), after(0s));
  for (std::size_t i = 0; i < 20; ++i) change(i, ready_[i], 3min);
  lose(11, 4min);
  EXPECT_EQ(since(5min), after(5min)) << "they count again";
}

TEST_F(Health, DoesNotCountNodesThatWereNeverReady) {
  observe({});
  const std::vector<NodePtr> added = a_pool("pool-b").size(64).each(not_ready).nodes();
  for (const NodePtr& node : added) health_->record(nullptr, node, after(10min));
  EXPECT_EQ(since(11min), after(0s)) << "64 of 84 are not Ready";
  for (const NodePtr& node : added) {
    const NodePtr ready = with(node, [](NodeView& view) { view.ready = true; });
    health_->record(node, ready, after(12min));
    health_->record(ready, node, after(13min));
  }
  EXPECT_EQ(since(14min), after(14min)) << "they count once they have been Ready";
}

TEST_F(Health, CountsNodesThatWereNotReadyAtTheStart) {
  observe({});
  for (const NodePtr& node : a_pool("pool-b").size(64).each(not_ready).nodes()) {
    health_->record(nullptr, node, after(1min));
  }
  EXPECT_EQ(since(2min), after(2min));
}

TEST_F(Health, ReportsWhenANodeCeasedToBeReady) {
  observe({});
  EXPECT_EQ(health_->not_ready_since("pool-a-0"), std::nullopt);
  lose(1, 3min);
  EXPECT_EQ(health_->not_ready_since("pool-a-0"), after(3min));
  change(0, with(nodes_[0], cordoned), 4min);
  EXPECT_EQ(health_->not_ready_since("pool-a-0"), after(3min));
  change(0, ready_[0], 5min);
  EXPECT_EQ(health_->not_ready_since("pool-a-0"), std::nullopt);
  health_->record(nullptr, a_pool("pool-b").node(0, not_ready).nodes()[0], after(6min));
  EXPECT_EQ(health_->not_ready_since("pool-b-0"), std::nullopt) << "unknown";
}

TEST(EmptyHealth, IsNotDisrupted) {
  EXPECT_EQ(NodeHealth({.disrupted_nodes = 0}, after(0s)).healthy_since(after(1h)), after(0s));
}

}  // namespace
}  // namespace tpuslice::slice

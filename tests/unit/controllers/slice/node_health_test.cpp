#include "controllers/slice/node_health.h"

#include <gtest/gtest.h>

#include "tests/support/slice/slices.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;

void without_accelerator(NodeView& node) { node.labels.erase(std::string(tpu::kAcceleratorLabel)); }

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
  void add(const std::vector<NodePtr>& nodes) {
    for (const NodePtr& node : nodes) health_->record(nullptr, node, after(0s));
  }
  /// From when on it counts that a node of the zone is not Ready, if it never was; nothing in a disruption.
  [[nodiscard]] std::optional<Timestamp> counts_from(const std::string& zone = {}) const {
    NodeView node;
    node.key.name = "unknown";
    if (!zone.empty()) node.labels[std::string(tpu::kZoneLabel)] = zone;
    return health_->not_ready(node).counts_from;
  }

  const std::vector<NodePtr> ready_ = a_pool("pool-a").size(20).nodes();
  std::vector<NodePtr> nodes_ = ready_;
  std::optional<NodeHealth> health_;
};

TEST_F(Health, IsDisruptedByTheShareOfNodes) {
  observe({.disrupted_percent = 55});
  lose(10, 1min);
  EXPECT_EQ(counts_from(), after(0s));
  lose(11, 2min);
  EXPECT_EQ(counts_from(), std::nullopt);
}

TEST_F(Health, IsNotDisruptedByAFewNodes) {
  observe({.disrupted_nodes = 11});
  lose(11, 1min);
  EXPECT_EQ(counts_from(), after(0s));
  observe({.disrupted_nodes = 10});
  EXPECT_EQ(counts_from(), std::nullopt);
}

TEST_F(Health, IsDisruptedUntilFewerNodesAreNotReady) {
  observe({});
  lose(11, 1min);
  change(0, ready_[0], 10min);
  EXPECT_EQ(counts_from(), after(10min));
  change(1, ready_[1], 12min);
  EXPECT_EQ(counts_from(), after(10min));
}

TEST_F(Health, CountsDeletedNodesNoMore) {
  observe({});
  lose(11, 1min);
  for (std::size_t i = 0; i < 9; ++i) change(i, nullptr, 5min);
  EXPECT_EQ(counts_from(), after(5min)) << "2 of 11 are not Ready";
}

TEST_F(Health, DoesNotCountNodesThatCannotBeRead) {
  observe({});
  for (std::size_t i = 0; i < 20; ++i) change(i, with(nodes_[i], unreadable), 1min);
  EXPECT_EQ(counts_from(), after(0s));
  for (std::size_t i = 0; i < 20; ++i) change(i, ready_[i], 3min);
  lose(11, 4min);
  EXPECT_EQ(counts_from(), std::nullopt) << "they count again";
}

TEST_F(Health, DoesNotCountNodesThatWereNeverReady) {
  observe({});
  const std::vector<NodePtr> added = a_pool("pool-b").size(64).each(not_ready).nodes();
  for (const NodePtr& node : added) health_->record(nullptr, node, after(10min));
  EXPECT_EQ(counts_from(), after(0s)) << "64 of 84 are not Ready";
  for (const NodePtr& node : added) {
    const NodePtr ready = with(node, [](NodeView& view) { view.ready = true; });
    health_->record(node, ready, after(12min));
    health_->record(ready, node, after(13min));
  }
  EXPECT_EQ(counts_from(), std::nullopt) << "they count once they have been Ready";
}

TEST_F(Health, CountsNodesThatWereNotReadyAtTheStart) {
  observe({});
  for (const NodePtr& node : a_pool("pool-b").size(64).each(not_ready).nodes()) {
    health_->record(nullptr, node, after(1min));
  }
  EXPECT_EQ(counts_from(), std::nullopt);
}

TEST_F(Health, ReportsWhenANodeCeasedToBeReady) {
  observe({});
  const auto since = [&] { return health_->not_ready(*nodes_[0]).since; };
  change(0, with(nodes_[0], [](NodeView& node) { node.ready_changed = after(59s); }), 1min);
  EXPECT_EQ(since(), after(59s)) << "not seen";
  lose(1, 3min);
  EXPECT_EQ(since(), after(3min));
  change(0, with(nodes_[0], cordoned), 4min);
  EXPECT_EQ(since(), after(3min));
  change(0, ready_[0], 5min);
  lose(1, 6min);
  EXPECT_EQ(since(), after(6min));
  EXPECT_EQ(health_->not_ready(*nodes_[0]).counts_from, after(6min));
}

TEST_F(Health, OfAZoneIsDisrupted) {
  observe({});
  const std::vector<NodePtr> other = a_pool("pool-z").size(5).label(std::string(tpu::kZoneLabel), "z").nodes();
  add(other);
  for (const NodePtr& node : other) health_->record(node, with(node, not_ready), after(1min));
  EXPECT_EQ(counts_from("z"), std::nullopt) << "5 of 5";
  EXPECT_EQ(counts_from(), after(0s)) << "5 of 25 of all zones";
  EXPECT_EQ(counts_from("y"), after(0s)) << "a zone without nodes";
  for (const NodePtr& node : other) health_->record(with(node, not_ready), node, after(2min));
  EXPECT_EQ(counts_from("z"), after(2min));
  EXPECT_EQ(counts_from(), after(0s));
}

TEST_F(Health, OfAllZonesDisruptsThoseWithFewNodes) {
  observe({});
  add(a_pool("pool-z").size(1).label(std::string(tpu::kZoneLabel), "z").nodes());
  lose(20, 1min);
  EXPECT_EQ(counts_from("z"), std::nullopt);
}

TEST_F(Health, IsNotDisruptedWhileNodesWithoutTpusAreReady) {
  observe({});
  std::vector<NodePtr> others = a_pool("cpu").size(4).each(without_accelerator).nodes();
  add(others);
  lose(20, 1min);
  EXPECT_EQ(counts_from(), after(0s)) << "the TPU nodes are lost indeed";
  for (std::size_t i = 0; i < 3; ++i) health_->record(others[i], with(others[i], not_ready), after(2min));
  EXPECT_EQ(counts_from(), std::nullopt) << "3 of 4 nodes without TPUs are not Ready, either";
  for (std::size_t i = 0; i < 3; ++i) health_->record(with(others[i], not_ready), others[i], after(3min));
  EXPECT_EQ(counts_from(), after(3min));
}

TEST_F(Health, CountsNodesWithoutTpusOfTheZoneFirst) {
  observe({});
  const std::string zone(tpu::kZoneLabel);
  const std::vector<NodePtr> tpus = a_pool("z").size(5).label(zone, "z").nodes();
  const std::vector<NodePtr> cpus = a_pool("cpu").size(4).label(zone, "z").each(without_accelerator).nodes();
  add(tpus);
  add(cpus);
  add(a_pool("cpu-y").size(40).label(zone, "y").each(without_accelerator).nodes());
  for (const auto* nodes : {&tpus, &cpus}) {
    for (const NodePtr& node : *nodes) health_->record(node, with(node, not_ready), after(1min));
  }
  EXPECT_EQ(counts_from("z"), std::nullopt) << "the network of the zone is away";
  EXPECT_EQ(counts_from("y"), after(0s));
}

TEST_F(Health, OfNodesWithoutTpusIsDisruptedByTheirShare) {
  observe({.disrupted_nodes = 2});
  const std::vector<NodePtr> others = a_pool("cpu").size(4).each(without_accelerator).nodes();
  add(others);
  const auto counts_for_head = [&] { return health_->not_ready_without_tpus(*others[0]).counts_from; };
  const auto set_ready = [&](std::size_t i, bool ready, Duration when) {
    const NodePtr silent = with(others[i], not_ready);
    health_->record(ready ? silent : others[i], ready ? others[i] : silent, after(when));
  };
  set_ready(0, false, 1min);
  set_ready(1, false, 1min);
  EXPECT_EQ(counts_for_head(), after(1min)) << "two nodes are no disruption";
  set_ready(2, false, 2min);
  EXPECT_EQ(counts_for_head(), std::nullopt) << "3 of 4";
  EXPECT_EQ(counts_from(), after(0s)) << "the TPU nodes are Ready";
  set_ready(2, true, 5min);
  EXPECT_EQ(counts_for_head(), after(5min));
}

TEST_F(Health, OfNodesWithoutTpusIsDisruptedWithThatOfTheOthers) {
  observe({.disrupted_nodes = 2});
  const std::vector<NodePtr> others = a_pool("cpu").size(1).each(without_accelerator).nodes();
  add(others);
  health_->record(others[0], with(others[0], not_ready), after(1min));
  lose(20, 1min);
  EXPECT_EQ(health_->not_ready_without_tpus(*others[0]).counts_from, std::nullopt) << "the network is away";
}

TEST(EmptyHealth, IsNotDisrupted) {
  EXPECT_EQ(NodeHealth({.disrupted_nodes = 0}, after(0s)).not_ready({}).counts_from, after(0s));
}

}  // namespace
}  // namespace tpuslice::slice

#include "controllers/slice/node_health.h"

#include <gtest/gtest.h>

#include "tests/unit/controllers/slice/slices.h"

namespace tpuslice::slice {
namespace {

class Health : public ::testing::Test {
 protected:
  Health() {
    for (const NodePtr& node : nodes_) health_.record(nullptr, node);
  }
  void lose(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const NodePtr lost = with(nodes_[i], not_ready);
      health_.record(nodes_[i], lost);
      nodes_[i] = lost;
    }
  }

  std::vector<NodePtr> nodes_ = a_pool("pool-a").size(20).nodes();
  NodeHealth health_;
};

TEST_F(Health, IsDisruptedByTheShareOfNodes) {
  lose(10);
  EXPECT_FALSE(health_.is_disrupted({.disrupted_percent = 55}));
  lose(11);
  EXPECT_TRUE(health_.is_disrupted({.disrupted_percent = 55}));
}

TEST_F(Health, IsNotDisruptedByAFewNodes) {
  lose(11);
  EXPECT_FALSE(health_.is_disrupted({.disrupted_nodes = 11}));
  EXPECT_TRUE(health_.is_disrupted({.disrupted_nodes = 10}));
}

TEST_F(Health, CountsDeletedNodesNoMore) {
  lose(11);
  for (std::size_t i = 0; i < 9; ++i) health_.record(nodes_[i], nullptr);
  EXPECT_FALSE(health_.is_disrupted({})) << "2 of 11 are not Ready";
}

TEST(EmptyHealth, IsNotDisrupted) { EXPECT_FALSE(NodeHealth().is_disrupted({.disrupted_nodes = 0})); }

}  // namespace
}  // namespace tpuslice::slice

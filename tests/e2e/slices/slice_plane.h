// SlicePlane: a real control plane with scheduler and kwok, twenty pools of four TPU nodes, the operator as it is
// shipped, and what tests of slices ask of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/eventually.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {

/// Slices by what has become of them.
struct SliceCounts {
  int whole = 0;    ///< All pods have nodes, of one pool.
  int partly = 0;   ///< Some pods have nodes, or of several pools.
  int waiting = 0;  ///< No pod has a node.

  friend bool operator==(const SliceCounts&, const SliceCounts&) = default;
};
void PrintTo(const SliceCounts& counts, std::ostream* out);

class SlicePlane : public ::testing::Test {
 protected:
  static constexpr int kPools = 20;
  static constexpr int kHosts = 4;

  /// Starts the control plane, which the tests share; without its programs, they are skipped.
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;
  /// Deletes the workloads and uncordons the nodes.
  void TearDown() override;

  /// One node each of the first `pools` pools.
  void cordon_in(int pools, bool cordoned = true);
  /// `annotations` go to the pod template.
  void create_ray_cluster(const std::string& name, const std::string& annotations = "");
  /// An Indexed Job of one slice, and its headless service.
  void create_job(const std::string& name);
  void remove(const ResourceType& type, const std::string& name);
  void evict(const std::string& pod);

  /// Pods that belong to a slice of several hosts, by that slice.
  [[nodiscard]] std::map<std::string, std::vector<Json>> slices();
  /// Slices that have fewer pods than hosts count as what those are.
  [[nodiscard]] SliceCounts count();
  /// The notes of all events in the namespace `default` with this reason.
  [[nodiscard]] static std::string notes_of(const std::string& reason);
  /// Waits until it is so, and prints what was found and when.
  void expect_counts(const std::string& what, const SliceCounts& counts, Duration within);

  [[nodiscard]] static client::Client& client() { return plane().client(); }
  [[nodiscard]] OperatorProcess& op() { return *operator_; }

 private:
  [[nodiscard]] static ControlPlane& plane() { return *plane_->value(); }
  void create(const std::string& yaml);
  void remove_all();

  inline static std::optional<Result<std::unique_ptr<ControlPlane>>> plane_;
  const RealClock clock_;
  std::unique_ptr<OperatorProcess> operator_;
};

}  // namespace tpuslice::testing

// KueueTest: a real control plane with scheduler and kwok, Kueue, the operator as it is shipped, node pools, and what
// tests of queued slices need.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/e2e/kueue/kueue_objects.h"
#include "tests/e2e/kueue/kueue_process.h"
#include "tests/e2e/kueue/pod_watch.h"
#include "tests/support/eventually.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {

/// Its pools, all of v6e nodes with four chips: four of topology 4x4 (4 nodes), two of 8x8 (16), twenty of 2x4 (2).
class KueueTest : public ::testing::Test {
 protected:
  static constexpr int kPools4x4 = 4;
  static constexpr int kPools8x8 = 2;
  static constexpr int kPools2x4 = 20;
  static constexpr Duration kLimit = std::chrono::seconds(60);

  /// Starts control plane and Kueue, which all tests of the program share; without their programs, they are skipped.
  static void SetUpTestSuite();
  void SetUp() override;
  /// Deletes the workloads, and reports what PodWatch found.
  void TearDown() override;

  void create(const ResourceType& type, const Json& object);
  void create(const std::vector<TypedObject>& objects);
  void create(WorkloadKind kind, const QueuedWorkload& workload);
  void remove(WorkloadKind kind, const std::string& name);
  void cordon(const std::string& node, bool cordoned = true);

  /// Pods of multi-host slices that have not ended and are not terminating, by slice.
  [[nodiscard]] std::map<std::string, std::vector<Json>> slices();
  /// Those of one workload: the slices whose keys begin with its name and "-".
  [[nodiscard]] std::map<std::string, std::vector<Json>> slices_of(const std::string& workload);
  /// Waits until all its slices run, each on the nodes of one pool, and checks the identity of their hosts.
  void expect_running(const QueuedWorkload& workload, const std::string& when);
  /// Waits until none of its pods has a node.
  void expect_no_pod_bound(const QueuedWorkload& workload, const std::string& when);

  /// Kueue's Workloads of this one: a LeaderWorkerSet has one for each group.
  [[nodiscard]] std::vector<Json> kueue_workloads(const std::string& owner);
  /// Waits until they have a condition with this status.
  void expect_condition(const std::string& owner, const std::string& type, const std::string& status);
  /// Waits until they exist and none has quota: Kueue sets QuotaReserved to False only on those that it has considered.
  void expect_without_quota(const std::string& owner);
  /// "True", "False", or "" if the condition is absent.
  [[nodiscard]] static std::string condition(const Json& workload, const std::string& type);
  /// The waiting reasons of its slices.
  [[nodiscard]] std::string waiting_reasons(const std::string& workload);

  [[nodiscard]] static client::Client& client() { return plane().client(); }
  [[nodiscard]] OperatorProcess& op() { return *operator_; }
  [[nodiscard]] const PodWatch& pods() const { return *watch_; }
  [[nodiscard]] static const std::string& kueue_log() { return kueue_->log(); }

 private:
  [[nodiscard]] static ControlPlane& plane() { return *plane_->value(); }
  [[nodiscard]] static Status start_kueue();
  static void stop();
  void remove_all();
  void uncordon_all();
  void expect_identity(const std::string& slice, const std::vector<Json>& pods);

  inline static std::optional<Result<std::unique_ptr<ControlPlane>>> plane_;
  inline static std::string kueue_directory_;
  inline static std::string kubeconfig_;  ///< Of the operator's service account.
  inline static std::unique_ptr<KueueProcess> kueue_;
  std::unique_ptr<OperatorProcess> operator_;
  std::unique_ptr<PodWatch> watch_;
  std::vector<std::string> cordoned_;
};

}  // namespace tpuslice::testing

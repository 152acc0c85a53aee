// HealingBench: how long a slice is not whole after one of its pods has failed; see docs/performance.md.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/result.h"
#include "tests/bench/healing/ready_watch.h"
#include "tests/bench/lean_client.h"
#include "tests/bench/workload.h"
#include "tests/support/control_plane.h"
#include "tests/support/operator_process.h"

namespace tpuslice::bench {

/// Who replaces the pods.
enum class Healer : std::uint8_t {
  kOperator,
  kKubeRay,
  kByHand,  ///< The client of the floor: deletes the pods of the slice, and posts them again, without gates.
};

inline constexpr std::array kHealers = {Healer::kOperator, Healer::kKubeRay, Healer::kByHand};

[[nodiscard]] std::string_view name_of(Healer healer);

struct HealingOptions {
  std::string operator_program;
  std::string kuberay_program = {};
  std::string kuberay_crds = {};               ///< Directory.
  int slices = 8;                              ///< Of the RayCluster.
  int hosts = 4;                               ///< Of each slice.
  int spare = 0;                               ///< Node pools in addition to those that the slices use.
  bool keep_dir = false;                       ///< Keep all logs.
  Duration limit = std::chrono::seconds(120);  ///< Time-out of each wait.
};

struct Healed {
  double seconds = 0;        ///< From the patch of the failed pod's status until all pods of the RayCluster are Ready.
  std::size_t replaced = 0;  ///< Pods.
};

/// A control plane with kube-scheduler and kwok, and a RayCluster whose pods are all Ready. Used by one thread.
class HealingBench {
 public:
  /// Errors: as ControlPlane::start; of the healer's program; Timeout if pods do not become Ready.
  static Result<std::unique_ptr<HealingBench>> start(HealingOptions options, Healer healer);

  /// A worker fails. `round` chooses it, another slice each time.
  Result<Healed> heal(int round);

 private:
  HealingBench(HealingOptions options, Healer healer) : options_(std::move(options)), healer_(healer) {}

  Status start_plane();
  Status start_operator();
  Status start_kuberay();
  Status create_cluster();
  Status post_by_hand(const Object& cluster);
  Status replace_by_hand(const ReadyPod& failed);

  const HealingOptions options_;
  const Healer healer_;
  const RealClock clock_;
  Shape shape_;
  std::unique_ptr<testing::ControlPlane> plane_;
  std::unique_ptr<testing::OperatorProcess> operator_;
  std::unique_ptr<testing::Process> kuberay_;
  std::unique_ptr<LeanClient> client_;
  std::vector<BarePod> bare_;          ///< Those that kByHand posts.
  std::unique_ptr<ReadyWatch> watch_;  ///< Destroyed first.
};

}  // namespace tpuslice::bench

// AttackRun: sends attacks in batches to an operator whose memory is limited, measures what they cost it and others,
// and reduces a batch that costs too much to the smallest one that still does.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/attacks/attack_plane.h"
#include "tests/e2e/generated_attacks/bystanders.h"
#include "tests/e2e/generated_attacks/case_sender.h"
#include "tests/e2e/generated_attacks/memory_limit.h"

namespace tpuslice::testing {

/// The memory limit of deploy/operator.
inline constexpr int kMemoryLimitMib = 512;
inline constexpr double kMaxPeakMib = 160;

struct BatchFigures {
  double peak_mib = 0;  ///< Resident memory of the operator.
  double cpu_seconds = 0;
  std::optional<int> exit_code;  ///< The operator has exited.
  std::map<std::string, int> answers;
  std::size_t left = 0;           ///< Objects that could not be deleted.
  bool apiserver_killed = false;  ///< It needed too much memory itself; then `others` is empty.
  BystanderFigures others;

  /// Which limit was exceeded; empty if none was.
  [[nodiscard]] std::string problem() const;
  /// Whether the problem does not depend on the speed of the machine.
  [[nodiscard]] bool certain() const { return exit_code || peak_mib > kMaxPeakMib; }
};

/// Of all batches.
struct RunTotals {
  int batches = 0;
  int sent = 0;
  std::map<std::string, int> answers;
  double peak_mib = 0;
  double cpu_seconds = 0;
  int exits = 0;
  int apiserver_kills = 0;
  std::size_t left = 0;
  std::vector<double> admissions;
  std::vector<double> controls;
  std::vector<double> reviews;
  int refused = 0;
  std::vector<double> reactions;
  int ignored = 0;
  std::string first_failure;

  void add(const std::vector<AttackCase>& attacks, const BatchFigures& figures);
  [[nodiscard]] std::string to_string() const;
};

/// Used by one thread.
class AttackRun {
 public:
  /// Errors: NotFound if the programs of the control plane are missing.
  static Result<std::unique_ptr<AttackRun>> start();

  /// Sends them one after another, and waits until the operator is idle if they stored something. The operator is
  /// started again if it has exited before.
  BatchFigures run(const std::vector<AttackCase>& attacks);
  /// The smallest batch that still has a problem, found by running parts of it.
  std::vector<AttackCase> reduced(std::vector<AttackCase> attacks);

  [[nodiscard]] AttackPlane& plane() { return *plane_; }
  [[nodiscard]] const SeedObjects& seeds() const { return *seeds_; }
  [[nodiscard]] const RunTotals& totals() const { return totals_; }
  [[nodiscard]] std::string mechanism() const { return limit_->mechanism(); }

 private:
  AttackRun() = default;

  /// Starts the operator again if it has exited, or if its memory is far from what it was.
  void refresh();
  /// Starts the API server again if it uses too much memory: its watch caches keep the last large objects of each type,
  /// and a long run would take all memory of the machine.
  void refresh_apiserver();
  /// After it was killed and the bystanders paused.
  void start_apiserver();
  [[nodiscard]] bool has_problem(const std::vector<AttackCase>& attacks);
  void drop_mutations(AttackCase& attack);
  void shorten(AttackCase& attack);

  std::unique_ptr<MemoryLimit> limit_;  // Destroyed after the operator.
  std::unique_ptr<SeedObjects> seeds_;
  std::unique_ptr<AttackPlane> plane_;
  std::unique_ptr<CaseSender> sender_;
  std::unique_ptr<Bystanders> others_;
  RunTotals totals_;
};

}  // namespace tpuslice::testing

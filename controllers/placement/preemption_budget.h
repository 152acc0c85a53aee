// PreemptionBudget: how many slices may be preempted by slices of higher priority within an hour. What was used is
// recorded in a ConfigMap of the operator's namespace, which outlives the workloads, the process and the leader.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "controllers/placement/metadata_view.h"
#include "controllers/plan/plan.h"

namespace tpuslice::placement {

inline constexpr std::string_view kPreemptionsConfigMap = "tpu-slice-preemptions";
/// The number of preemptions is bounded within any period of this length.
inline constexpr Duration kPreemptionPeriod = std::chrono::hours(1);

/// The ConfigMap: by accelerator, the preemptions that may count (PreemptionBudget::record).
struct PreemptionRecords {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::optional<Timestamp> deletion;
  std::optional<ControllerRef> controller;
  StringMap data;

  static Result<PreemptionRecords> decode(std::string_view json, const KeptKeys* keep = nullptr);
  friend bool operator==(const PreemptionRecords&, const PreemptionRecords&) = default;
};

/// What is known of the ConfigMap.
struct PreemptionState {
  bool readable = false;                                  ///< The store is synced.
  std::shared_ptr<const PreemptionRecords> records = {};  ///< Null while it does not exist.
};

/// The budget of one accelerator.
class PreemptionBudget {
 public:
  PreemptionBudget() = default;
  /// Entries of `record` that have expired are ignored.
  PreemptionBudget(std::size_t limit, std::string_view record, Timestamp now);

  /// Nothing may be preempted, whatever the record says: "ConfigMap a/b cannot be read".
  void block(std::string reason) { blocked_ = std::move(reason); }

  /// The first entry that is malformed, or later than a period from now: how much was used is not known. Empty if
  /// there is none.
  [[nodiscard]] const std::string& invalid_entry() const { return invalid_entry_; }
  [[nodiscard]] std::size_t limit() const { return limit_; }
  [[nodiscard]] std::size_t used() const;
  [[nodiscard]] std::size_t left() const;
  /// When `count` more may be preempted: now, or when enough earlier preemptions have expired; absent if `count`
  /// exceeds the limit.
  [[nodiscard]] std::optional<Timestamp> when_left(std::size_t count) const;
  /// Why `victims` slices cannot be preempted now, for a waiting reason; empty if they can.
  [[nodiscard]] std::string obstacle(std::size_t victims) const;
  /// When left() changes next; absent if nothing was used.
  [[nodiscard]] std::optional<Timestamp> changes_at() const;

  void use(std::size_t count);
  /// "2 2026-01-01T00:01:00Z, 1 2026-01-01T00:07:00Z": how many, and when at the latest. There is one entry for each
  /// minute, so that a record has at most 62.
  [[nodiscard]] std::string record() const;

 private:
  std::size_t limit_ = 0;
  Timestamp now_ = {};
  std::string blocked_;
  std::string invalid_entry_;
  std::map<Timestamp, std::size_t> used_;
};

/// Creates the ConfigMap, without records.
[[nodiscard]] plan::Action create_preemption_records(const ObjectKey& key);
/// Writes the record of `accelerator`, and removes those of others that have expired. It fails if the ConfigMap has
/// changed: another leader may have used the budget.
[[nodiscard]] plan::Action write_preemption_record(const PreemptionRecords& records, const std::string& accelerator,
                                                   const PreemptionBudget& budget, Timestamp now);

}  // namespace tpuslice::placement

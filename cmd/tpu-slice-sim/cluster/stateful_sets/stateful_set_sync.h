// StatefulSetSync: one sync of one StatefulSet: creates, replaces or deletes pods and writes the status.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_members.h"
#include "cmd/tpu-slice-sim/registry/registry.h"

namespace tpuslice::sim {

struct StatefulSetOutcome {
  bool wrote = false;
  bool failed = false;                         ///< A write failed: retry with back-off.
  std::optional<Duration> requeue_after = {};  ///< When a sync is due without a change.
};

/// One sync of a StatefulSet; an object is used once.
///
/// With OrderedReady, a sync creates, deletes or waits for at most one pod, lowest ordinal first; the status
/// then counts the pods before that. With Parallel, all missing pods are created at once, in growing batches.
class StatefulSetSync {
 public:
  StatefulSetSync(Registry& registry, const JsonPtr& set, StatefulSetMembers members);

  StatefulSetOutcome run();

 private:
  // Revisions.
  [[nodiscard]] bool find_revisions();
  [[nodiscard]] JsonPtr update_revision();
  [[nodiscard]] JsonPtr create_revision(std::int64_t number);
  void truncate_history();

  // Pods, in order; in stateful_set_replicas.cpp.
  void place_pods();
  [[nodiscard]] Json missing_pod(int ordinal) const;
  void manage();
  /// Calls `act` for 0 to `count`; with OrderedReady until it returns false, else until a write fails. Returns whether
  /// all were called.
  bool for_all(std::size_t count, const std::function<bool(std::size_t)>& act);
  bool settle_replica(const Json& pod);
  bool maintain(const Json& pod);
  bool condemn(const JsonPtr& pod);
  void roll();
  [[nodiscard]] bool unavailable(const Json& pod) const;

  // Writes of pods and claims; in stateful_set_writes.cpp. False if one failed.
  bool create(const Json& pod);
  bool update(const Json& pod);
  bool remove(const Json& pod);
  bool create_claims(const Json& pod, std::string& why);
  bool create_claim(const Json& pod, const Json& claim, std::string& why);
  bool set_claim_owners(const Json& pod, std::string& why);
  [[nodiscard]] bool claims_match(const Json& pod) const;
  [[nodiscard]] bool claims_stale(const Json& pod) const;
  [[nodiscard]] JsonPtr claim_of(const std::string& name) const;
  bool refuse(const char* verb, const Json& pod, const std::string& why);
  void add_event(const char* type, const std::string& reason, const std::string& message);

  // Status.
  void count(const std::vector<JsonPtr>& pods);
  void write_status();
  void set_requeue_after();

  Registry& registry_;
  const Timestamp now_;
  const Json set_;
  const std::string name_;
  const bool ordered_;
  StatefulSetMembers members_;
  StatefulSetOutcome outcome_;
  std::int64_t collisions_ = 0;
  JsonPtr current_;
  JsonPtr update_;
  std::vector<JsonPtr> replicas_;   ///< One for each ordinal in range; missing ones as they would be created.
  std::vector<JsonPtr> condemned_;  ///< Out of range; highest ordinal first.
  JsonPtr first_unavailable_;
  Json status_;
};

}  // namespace tpuslice::sim

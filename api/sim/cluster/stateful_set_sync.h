// StatefulSetSync: one look at one StatefulSet: makes, replaces or deletes pods, and says in its status where it
// stands.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/sim/cluster/stateful_set_members.h"
#include "api/sim/registry.h"

namespace tpuslice::sim {

struct StatefulSetOutcome {
  bool wrote = false;
  bool refused = false;                ///< The API server refused a write: to be tried again, with back-off.
  std::optional<Duration> again = {};  ///< When time alone will change something.
};

/// For one use.
///
/// With OrderedReady, at most one pod is made, deleted or waited for in one look, the lowest ordinal first; the status
/// then counts what was there before. With Parallel, all that are missing are made at once, in growing batches.
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
  /// Calls `act` for 0 to `count`; with OrderedReady until it returns false, else until one is refused. Whether it
  /// came to the end.
  bool for_all(std::size_t count, const std::function<bool(std::size_t)>& act);
  bool settle_replica(const Json& pod);
  bool maintain(const Json& pod);
  bool condemn(const JsonPtr& pod);
  void roll();
  [[nodiscard]] bool unavailable(const Json& pod) const;

  // Writes of pods and claims; in stateful_set_writes.cpp. False where one was refused.
  bool create(const Json& pod);
  bool update(const Json& pod);
  bool remove(const Json& pod);
  bool create_claims(const Json& pod, std::string& why);
  bool create_claim(const Json& pod, const Json& claim, std::string& why);
  bool give_claims(const Json& pod, std::string& why);
  [[nodiscard]] bool claims_match(const Json& pod) const;
  [[nodiscard]] bool claims_stale(const Json& pod) const;
  [[nodiscard]] JsonPtr claim_of(const std::string& name) const;
  bool refuse(const char* verb, const Json& pod, const std::string& why);
  void tell(const char* type, const std::string& reason, const std::string& message);

  // Status.
  void count(const std::vector<JsonPtr>& pods);
  void write_status();
  void plan_next_look();

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
  std::vector<JsonPtr> replicas_;   ///< One for each place; those that are missing as they would be made.
  std::vector<JsonPtr> condemned_;  ///< Without a place; the highest ordinal first.
  JsonPtr first_unavailable_;
  Json status_;
};

}  // namespace tpuslice::sim

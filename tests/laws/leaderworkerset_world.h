// SetWorld: a LeaderWorkerSet and its children, with a simple StatefulSet controller, garbage collector and kubelet.
#pragma once

#include <functional>
#include <string>

#include "controllers/leaderworkerset/observed.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "tests/support/plan_world.h"

namespace tpuslice::leaderworkerset {

class SetWorld final : public plan::PlanWorld {
 public:
  explicit SetWorld(Json set);

  [[nodiscard]] LeaderWorkerSetObserved seen() const;

  /// An action that the API server refuses is the last_failure of the next plan.
  void perform(const plan::Action& action);

  /// One step of the controllers and kubelets: each possible change happens if `chance` returns true.
  void step(const std::function<bool()>& chance);
  /// Several steps with all changes; objects of other owners are deleted; time passes.
  void settle();

  /// For failure messages.
  [[nodiscard]] std::string describe() const;

  [[nodiscard]] Json& set() { return object().mutable_json(); }
  [[nodiscard]] const Json& set() const { return object().json(); }
  [[nodiscard]] Objects& stateful_sets() { return objects(kStatefulSets); }
  [[nodiscard]] const Objects& stateful_sets() const { return objects(kStatefulSets); }
  [[nodiscard]] Objects& pods() { return objects(kPods); }
  [[nodiscard]] const Objects& pods() const { return objects(kPods); }
  [[nodiscard]] Objects& revisions() { return objects(kControllerRevisions); }
  [[nodiscard]] Objects& services() { return objects(kServices); }
  [[nodiscard]] Timestamp& now() { return now_; }
  [[nodiscard]] std::string name() const { return object().name(); }

 private:
  void prepare(const ResourceType& type, Json& created) override;
  [[nodiscard]] bool terminates(const ResourceType& type) const override;
  void follow_spec(const plan::Action& action, const Json& before);
  void run_stateful_set(Json& stateful_set, const std::function<bool()>& chance);
  void collect_garbage(const std::function<bool()>& chance);
  void run_pods(const std::function<bool()>& chance);
  void count_pods();

  Json old_template_;  ///< Old pod template of leaders below the partition; null: the leader set's.
};

}  // namespace tpuslice::leaderworkerset

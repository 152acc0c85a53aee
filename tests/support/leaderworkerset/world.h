// World: one LeaderWorkerSet and its children in memory, with a simple StatefulSet controller, garbage collector and
// kubelet.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "controllers/leaderworkerset/observed.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "controllers/plan/plan.h"
#include "tests/support/leaderworkerset/leaderworkersets.h"
#include "tests/support/plan_world.h"

namespace tpuslice::leaderworkerset {

class World final : public plan::PlanWorld {
 public:
  explicit World(Json set);

  [[nodiscard]] LeaderWorkerSetObserved observed() const;
  [[nodiscard]] plan::Plan plan() const override;
  /// The other controllers and the kubelets: each possible change happens if `chance` returns true.
  void advance(const std::function<bool()>& chance);
  /// All possible changes, several times; objects of other owners are deleted; time passes.
  void advance() override;

  /// For failure messages.
  [[nodiscard]] std::string describe() const;

  /// Sets a member of the LeaderWorkerSet, by JSON pointer.
  void change_set(const std::string& pointer, Json value) { set()[Json::json_pointer(pointer)] = std::move(value); }
  /// Changes the image and creates the revision for it, but does not change the leader set. Returns its key.
  std::string add_update(const std::string& image);
  void set_ready(const std::string& pod, bool ready);
  /// The kubelet starts a container again.
  void restart_container(const std::string& pod);
  void terminate_pod(const std::string& pod);

  [[nodiscard]] LeaderWorkerSetSpec spec() const { return LeaderWorkerSetSpec::read(object()); }
  [[nodiscard]] Json& set() { return object().mutable_json(); }
  [[nodiscard]] const Json& set() const { return object().json(); }
  [[nodiscard]] const Json& conditions() const { return set()["status"]["conditions"]; }
  [[nodiscard]] Json& leader_set() { return stateful_sets().at(name()); }
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
  /// Counts the generations of a spec, and keeps the pod template of the leaders that a partition does not update.
  void applied(const plan::Action& action, const Json& before) override;
  void run_stateful_set(Json& stateful_set, const std::function<bool()>& chance);
  void collect_garbage(const std::function<bool()>& chance);
  void run_pods(const std::function<bool()>& chance);
  void count_pods();

  Json old_template_;  ///< Old pod template of leaders below the partition; null: the leader set's.
};

/// A set at rest, after settle(); by default two groups of two pods.
[[nodiscard]] World stable_world(const SetBuilder& set = a_set("serve").replicas(2).size(2));

}  // namespace tpuslice::leaderworkerset

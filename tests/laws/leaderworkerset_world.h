// SetWorld: a LeaderWorkerSet and its children, with a simple StatefulSet controller, garbage collector and kubelet.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "controllers/leaderworkerset/observed.h"
#include "controllers/plan/plan.h"

namespace tpuslice::leaderworkerset {

class SetWorld {
 public:
  using Objects = std::map<std::string, Json>;  ///< By name.

  explicit SetWorld(Json set) : set_(std::move(set)) {}

  [[nodiscard]] LeaderWorkerSetObserved seen() const;

  /// Like the API server: creates of existing objects and writes with wrong preconditions fail, and are the
  /// last_failure of the next plan.
  void perform(const plan::Action& action);
  void write_status(Json status) { set_["status"] = std::move(status); }

  /// One step of the controllers and kubelets: each possible change happens if `chance` returns true.
  void step(const std::function<bool()>& chance);
  /// Several steps with all changes; objects of other owners are deleted; time passes.
  void settle();

  /// For failure messages.
  [[nodiscard]] std::string describe() const;

  [[nodiscard]] Json& set() { return set_; }
  [[nodiscard]] const Json& set() const { return set_; }
  [[nodiscard]] Objects& stateful_sets() { return stateful_sets_; }
  [[nodiscard]] const Objects& stateful_sets() const { return stateful_sets_; }
  [[nodiscard]] Objects& pods() { return pods_; }
  [[nodiscard]] const Objects& pods() const { return pods_; }
  [[nodiscard]] Objects& revisions() { return revisions_; }
  [[nodiscard]] Objects& services() { return services_; }
  [[nodiscard]] Timestamp& now() { return now_; }
  [[nodiscard]] std::string name() const { return string_at(set_, {"metadata", "name"}); }

 private:
  [[nodiscard]] Objects& objects_of(const ResourceType& type);
  void refuse(const plan::Action& action);
  void create(const plan::Action& action);
  void patch(const plan::Action& action);
  void run_stateful_set(Json& stateful_set, const std::function<bool()>& chance);
  void collect_garbage(const std::function<bool()>& chance);
  void run_pods(const std::function<bool()>& chance);
  void count_pods();
  [[nodiscard]] std::string new_uid(std::string_view of);

  Json set_;
  Objects stateful_sets_;
  Objects pods_;
  Objects revisions_;
  Objects services_;
  Json old_template_;  ///< Old pod template of leaders below the partition; null: the leader set's.
  Timestamp now_ = Timestamp(std::chrono::seconds(1'800'000'000));
  int uids_ = 0;
  std::optional<plan::Failure> failure_;
};

}  // namespace tpuslice::leaderworkerset

// SetWorld: a LeaderWorkerSet and its children as the API server keeps them, and what StatefulSet controller, garbage
// collector and kubelets make of them, a step at a time.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "controllers/leaderworkerset/observed.h"
#include "controllers/runtime/plan.h"

namespace tpuslice::leaderworkerset {

class SetWorld {
 public:
  using Objects = std::map<std::string, Json>;  ///< By name.

  explicit SetWorld(Json set) : set_(std::move(set)) {}

  [[nodiscard]] LeaderWorkerSetObserved seen() const;

  /// As the API server. A create of what exists and a precondition that does not hold are refused, and known to the
  /// next plan.
  void perform(const runtime::Action& action);
  void write_status(Json status) { set_["status"] = std::move(status); }

  /// Each thing that may happen next happens if `lucky` says so: pods are made, replaced, started, removed.
  void go_on(const std::function<bool()>& lucky);
  /// All of it happens, over and over; strangers go; time passes.
  void calm_down();

  /// For people: what is asked for, and what there is.
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
  void refuse(const runtime::Action& action);
  void create(const runtime::Action& action);
  void patch(const runtime::Action& action);
  void make_pods(Json& stateful_set, const std::function<bool()>& lucky);
  void collect_garbage(const std::function<bool()>& lucky);
  void run_pods(const std::function<bool()>& lucky);
  void count_pods();
  [[nodiscard]] std::string new_uid(std::string_view of);

  Json set_;
  Objects stateful_sets_;
  Objects pods_;
  Objects revisions_;
  Objects services_;
  Json earlier_leaders_;  ///< The template that leaders below the partition are made from; null: the leader set's.
  Timestamp now_ = Timestamp(std::chrono::seconds(1'800'000'000));
  int uids_ = 0;
  std::optional<runtime::Failure> failure_;
};

}  // namespace tpuslice::leaderworkerset

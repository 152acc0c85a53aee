// World: one DisaggregatedSet and its children in memory, with a simple controller of LeaderWorkerSets.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/disaggregatedset/observed.h"
#include "controllers/disaggregatedset/rules/disaggregatedset_labels.h"
#include "controllers/disaggregatedset/rules/revision.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "controllers/plan/plan.h"
#include "tests/support/plan_world.h"

namespace tpuslice::disaggregatedset {

/// A role of a test: a group of one pod without TPUs.
struct RoleShape {
  std::string name;
  int replicas = 1;
  bool external = false;
};

/// The set "llm" in namespace default, as the API server stores it.
[[nodiscard]] Json a_set(const std::vector<RoleShape>& roles = {{"prefill", 2}, {"decode", 2}});

class World final : public plan::PlanWorld {
 public:
  explicit World(Json set = a_set());

  [[nodiscard]] DisaggregatedSetObserved observed() const;
  [[nodiscard]] plan::Plan plan() const override;
  /// The other controllers: LeaderWorkerSets get their replicas ready; objects of other owners and terminating ones are
  /// deleted; ten seconds pass. Each change happens if `chance` returns true.
  void advance(const std::function<bool()>& chance);
  void advance() override;

  /// Sets a member of the DisaggregatedSet, by JSON pointer, and counts a generation.
  void change_set(const std::string& pointer, Json value);
  /// The image of all roles, so that there is another revision.
  void use_image(const std::string& image);
  void scale(const std::string& role, int replicas);
  /// As an autoscaler does it.
  void scale_external(const std::string& role, int replicas);
  /// Replicas of this image do not become ready.
  void break_image(std::string image) { broken_ = std::move(image); }

  [[nodiscard]] Json& set() { return object().mutable_json(); }
  [[nodiscard]] const Json& set() const { return object().json(); }
  [[nodiscard]] Objects& sets() { return objects(leaderworkerset::kLeaderWorkerSets); }
  [[nodiscard]] const Objects& sets() const { return objects(leaderworkerset::kLeaderWorkerSets); }
  [[nodiscard]] Objects& scalers() { return objects(kRoleScalers); }
  [[nodiscard]] const Objects& scalers() const { return objects(kRoleScalers); }
  [[nodiscard]] Objects& services() { return objects(kServices); }
  [[nodiscard]] const Objects& services() const { return objects(kServices); }
  [[nodiscard]] std::string revision() const;
  /// "llm-0-58f79fdb-prefill"
  [[nodiscard]] std::string name_of(const std::string& role, int slice = 0) const;
  [[nodiscard]] Json status() const { return plan::status_of(object()); }
  /// "True: AllRolesReady"; empty without the condition.
  [[nodiscard]] std::string condition(std::string_view type) const;
  [[nodiscard]] std::string message(std::string_view type) const;
  [[nodiscard]] Timestamp& now() { return now_; }

 private:
  void prepare(const ResourceType& type, Json& created) override;
  void applied(const plan::Action& action, const Json& before) override;
  void run_set(Json& set, const std::function<bool()>& chance);

  std::string broken_;
};

/// spec.replicas of the LeaderWorkerSets, by slice: "0 prefill 2 new, 0 decode 1 old". `new`: of the revision of the
/// spec.
[[nodiscard]] std::string picture(const World& world);

}  // namespace tpuslice::disaggregatedset

// World: one JobSet and its children in memory.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "controllers/jobset/jobset_options.h"
#include "controllers/jobset/observed.h"
#include "controllers/jobset/rules/spec.h"
#include "controllers/plan/plan.h"
#include "tests/support/plan_world.h"

namespace tpuslice::jobset {

/// A change of the JSON of a Job.
using JobChange = std::function<void(Json&)>;

/// A namespace with one JobSet and its children, as an API server has them.
class World final : public plan::PlanWorld {
 public:
  explicit World(Json jobset);

  [[nodiscard]] JobSetObserved observed() const;
  /// The plan of observed().
  [[nodiscard]] plan::Plan plan(const Options& options = {}) const;
  /// Applies the plan as a whole; returns it.
  plan::Plan step(const Options& options = {});
  /// step() and advance() until a plan is empty; returns the reasons of the others.
  std::vector<std::string> settle();
  [[nodiscard]] JobSetSpec spec() const { return JobSetSpec::read(object()); }
  [[nodiscard]] Object& jobset() { return object(); }
  [[nodiscard]] const Object& jobset() const { return object(); }
  [[nodiscard]] const Json& status() const { return object().json()["status"]; }
  [[nodiscard]] const Objects& jobs() const { return objects(kJobs); }
  [[nodiscard]] Timestamp& now() { return now_; }

  /// Changes the Job of this name; creates it first if it does not exist.
  World& job(const std::string& name, const JobChange& change);
  /// Changes all Jobs of the spec.
  World& every_job(const JobChange& change);
  World& without_job(const std::string& name);
  /// Adds the service and claims as the controller creates them.
  World& with_resources();
  /// Sets the service, owned or not.
  World& with_service(Json service);
  World& without_service();
  World& with_claim(Json claim);
  /// Sets a member of the JobSet, by JSON pointer.
  World& set(const std::string& pointer, Json value);
  World& last_failure(std::string reason, std::string message);

  /// Applies an action that must succeed: preconditions hold, and a created object does not exist.
  void apply(const plan::Action& action);
  /// Applies the actions and the status, in order.
  void carry_out(const plan::Plan& plan);
  /// Removes terminating Jobs; suspended ones get their condition, all others become ready.
  void advance();

 private:
  void prepare(const ResourceType& type, Json& created) override;
  [[nodiscard]] Json build(const std::string& name) const;
};

}  // namespace tpuslice::jobset

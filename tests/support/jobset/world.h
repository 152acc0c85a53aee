// World: one JobSet and its children in memory.
#pragma once

#include <functional>
#include <string>

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

  /// As the reconciler: only Jobs that the JobSet owns.
  [[nodiscard]] JobSetObserved observed() const;
  [[nodiscard]] plan::Plan plan() const override;
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

  /// A second passes. Terminating Jobs are removed; suspended ones get their condition, all others become ready.
  void advance() override;

  Options options;
  Priorities priorities;

 private:
  void prepare(const ResourceType& type, Json& created) override;
  [[nodiscard]] Json build(const std::string& name) const;
};

}  // namespace tpuslice::jobset

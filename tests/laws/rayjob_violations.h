// Invariants of plans for RayJobs, and of RayJobs at rest.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/laws/laws.h"
#include "tests/support/rayjob/world.h"

namespace tpuslice::rayjob {

using laws::actions_of;

/// One sentence for each invariant that `plan` violates in `world`: writes to objects of others, or without a
/// precondition; children of a state, attempt or spec that has none; requests; changes of the status that go back.
[[nodiscard]] std::vector<std::string> violations(const World& world, const plan::Plan& plan);

/// Defects of a finished RayJob whose plan is empty.
[[nodiscard]] std::vector<std::string> defects_at_rest(const World& world);

/// For comparing two worlds at rest.
[[nodiscard]] Json summary_of(const World& world);

/// Follows what is sent to Ray. A Ray job may be submitted, or its submitter be created again, if the last answer to
/// this operator, by this head and without a submitter, is that Ray does not know it. A submission makes the outcome
/// unknown.
class SubmissionRecord {
 public:
  /// One sentence for a submitter that the plan creates again although the outcome of the one before is unknown.
  [[nodiscard]] std::vector<std::string> check(const World& world, const plan::Plan& plan) const;
  /// World::advance(); one sentence for each submission whose outcome could be that of an earlier one.
  [[nodiscard]] std::vector<std::string> answer(World& world);

 private:
  std::map<std::string, std::string> unknown_;  ///< Jobs that Ray does not know: address of its head by target.
};

}  // namespace tpuslice::rayjob

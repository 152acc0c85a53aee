#include "controllers/rayjob/validation.h"

namespace tpuslice::rayjob {

Problem validate(const Object& job) {
  // Replaced by webhook::validate_rayjob when it is there.
  const Json& spec = *find_path(job.json(), {"spec"});
  if (!spec.contains("rayClusterSpec") && !spec.contains("clusterSelector")) {
    return {"InvalidSpec", "spec.rayClusterSpec: Required value: set it, or spec.clusterSelector"};
  }
  if (string_at(spec, {"submissionMode"}) == "Unknown") {
    return {"InvalidSpec", "spec.submissionMode: Unsupported value: \"Unknown\""};
  }
  return {};
}

}  // namespace tpuslice::rayjob

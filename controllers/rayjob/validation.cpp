#include "controllers/rayjob/validation.h"

#include "controllers/rayjob/rules/validator.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::rayjob {

Problem validate(const Object& job) {
  return rules::refusal(rules::validate_rayjob(job.json(), nullptr), rules::unsupported_rayjob_fields(job.json()));
}

}  // namespace tpuslice::rayjob

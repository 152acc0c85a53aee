#include "controllers/rayjob/validation.h"

#include "webhook/rules/rayjob/validator.h"
#include "webhook/rules/refusal.h"

namespace tpuslice::rayjob {

Problem validate(const Object& job) {
  return webhook::refusal(webhook::validate_rayjob(job.json(), nullptr),
                          webhook::unsupported_rayjob_fields(job.json()));
}

}  // namespace tpuslice::rayjob

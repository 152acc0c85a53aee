#include "controllers/rayjob/rayjob_state.h"

#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/rules/validator.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::rayjob {
namespace {

bool is_owned_by(const RayJobSpec& spec, const std::optional<ControllerRef>& controller) {
  return controller && controller->uid == spec.uid;
}

SubmissionMode mode_of(const RayJobSpec& spec, const ObjectView* cluster) {
  if (cluster == nullptr || !is_owned_by(spec, cluster->controller)) return spec.mode;
  const auto label = cluster->labels.find(kSubmissionMode);
  return label == cluster->labels.end() ? spec.mode : submission_mode(label->second, spec.mode);
}

/// The errors of admission, which a RayJob that was created without the webhook, or before a rule, may still have.
Problem validate(const Object& job) {
  return rules::refusal(rules::validate_rayjob(job.json(), nullptr), rules::unsupported_rayjob_fields(job.json()));
}

}  // namespace

RayJobState::RayJobState(const RayJobObserved& observed, const Options& all_options)
    : seen(observed),
      options(all_options),
      spec(observed.job.spec()),
      status(RayJobStatus::read(observed.job)),
      // A finished RayJob is only cleaned up, so its spec may be from before a rule.
      refusal(status.finished() ? Problem{} : validate(observed.job)),
      mode(mode_of(spec, observed.cluster.get())) {}

bool RayJobState::owns_cluster() const {
  return seen.cluster != nullptr && is_owned_by(spec, seen.cluster->controller);
}

bool RayJobState::owns_submitter() const {
  return seen.submitter != nullptr && is_owned_by(spec, seen.submitter->controller);
}

const ObjectView* RayJobState::usable_cluster() const {
  if (seen.cluster == nullptr || seen.cluster->deletion) return nullptr;
  return spec.selects_cluster || owns_cluster() ? seen.cluster.get() : nullptr;
}

}  // namespace tpuslice::rayjob

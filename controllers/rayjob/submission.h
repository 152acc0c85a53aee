// What is submitted to Ray: the body of POST /api/jobs/, and the arguments of JobSubmissionClient.submit_job().
#pragma once

#include <string>

#include "controllers/rayjob/rules/spec.h"

namespace tpuslice::rayjob {

/// Errors: InvalidArgument if spec.runtimeEnvYAML is not the YAML of an object, or spec.entrypointResources not the
/// JSON of one.
[[nodiscard]] Result<Json> build_submission(const RayJobSpec& spec, const std::string& submission_id);

}  // namespace tpuslice::rayjob

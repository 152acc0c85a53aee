// Validation of a LeaderWorkerSet: the rules of upstream's webhook and CRD, and those of TPU slices. Pure.
//
// The webhook refuses with it; the controller reports with it where no webhook is installed.
#pragma once

#include <string>
#include <vector>

#include "webhook/rules/field_errors.h"

namespace tpuslice::webhook {

/// Everything that is wrong with `set`. `old` is the stored object on an update, else null. Absent fields count as the
/// defaults of the CRD and of upstream's webhook.
///
/// What upstream accepts and we refuse is told of an update only if the stored object was free of it: a set older than
/// this webhook can still be scaled, labelled and deleted.
[[nodiscard]] std::vector<FieldError> validate_leaderworkerset(const Json& set, const Json* old);

/// What is legal but probably not meant, each in less than 256 bytes.
[[nodiscard]] std::vector<std::string> warn_leaderworkerset(const Json& set, const Json* old = nullptr);

}  // namespace tpuslice::webhook

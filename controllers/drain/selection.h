// Selection of the objects that hold something of the operator; pure. Each function returns nothing for an object that
// does not.
#pragma once

#include <optional>
#include <string_view>

#include "controllers/drain/steps.h"

namespace tpuslice::drain {

/// A pod with our gate that is not being deleted. Its `slice` is the label's value, or the pod's name without a label.
[[nodiscard]] std::optional<Holder> gated_pod(const Object& pod);
[[nodiscard]] std::optional<Holder> scout_pod(const Object& pod);

/// A suspended Job with our gate in its pod template, which may be changed once its pods are gone.
[[nodiscard]] std::optional<Holder> suspended_job_with_gate(const Object& job);
/// One that is neither suspended nor finished nor being deleted: its template is immutable.
[[nodiscard]] std::optional<Holder> running_job_with_gate(const Object& job);

/// A StatefulSet with our gate in its pod template, whose pods would not be replaced if the template changed.
[[nodiscard]] std::optional<Holder> idle_set_with_gate(const Object& set);
[[nodiscard]] std::optional<Holder> rolling_set_with_gate(const Object& set);

[[nodiscard]] std::optional<Holder> object_with_finalizer(const Object& object, std::string_view finalizer);

}  // namespace tpuslice::drain

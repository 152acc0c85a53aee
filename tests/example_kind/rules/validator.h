// Validation of a Fleet. Pure.
#pragma once

#include <string>
#include <vector>

#include "api/types/typed.h"
#include "tests/example_kind/rules/spec.h"
#include "tpu/rules/field_errors.h"

namespace tpuslice::example {

inline constexpr std::int64_t kMaxShips = 100;

/// All field errors of `fleet`. `old` is the stored object on an update, else null; its errors are left out.
[[nodiscard]] rules::FieldErrors validate_fleet(const Json& fleet, const Json* old);

/// The same of a stored object, for the controller.
[[nodiscard]] rules::FieldErrors validate_stored_fleet(const Typed<FleetSpec>& fleet);

/// Warnings about valid but probably unintended values.
[[nodiscard]] std::vector<std::string> warn_fleet(const Json& fleet, const Json* old);

}  // namespace tpuslice::example

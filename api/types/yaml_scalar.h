// What a bare word of YAML means. Shared by the reader and the printer, so that they agree.
#pragma once

#include <string_view>

#include "api/types/json.h"

namespace tpuslice {

/// Null, a truth value, a number or, for all else, the string itself: YAML 1.2 core, and kubectl's octals.
///
/// Errors: InvalidArgument for .inf and .nan and for numbers no double can hold.
[[nodiscard]] Result<Json> resolve_yaml_scalar(std::string_view word);

/// Whether a bare word could be taken for something other than a string by a YAML 1.1 or 1.2 reader.
[[nodiscard]] bool is_ambiguous_yaml_word(std::string_view word);

}  // namespace tpuslice

// What the API server accepts as a name, a label key and a label value, and its wording of why not.
//
// Each check returns error messages, none if the value is valid; the caller adds the field path and the value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/types/json.h"

namespace tpuslice {

using ErrorMessages = std::vector<std::string>;

/// At most 63 of a-z 0-9 '-': pod hostnames, namespaces, container names.
[[nodiscard]] ErrorMessages check_dns1123_label(std::string_view value);
/// At most 253, labels joined by '.': names of most objects.
[[nodiscard]] ErrorMessages check_dns1123_subdomain(std::string_view value);
/// A DNS-1123 label that starts with a letter: names of Services.
[[nodiscard]] ErrorMessages check_dns1035_label(std::string_view value);
/// "[prefix/]name": keys of labels, annotations and taints, names of resources and conditions.
[[nodiscard]] ErrorMessages check_label_key(std::string_view value);
[[nodiscard]] ErrorMessages check_label_value(std::string_view value);

/// InvalidArgument "<field>: Invalid value: "<value>": <message>" for the first message; a long value is shortened.
[[nodiscard]] Status first_error(std::string_view field, std::string_view value, const ErrorMessages& messages);

}  // namespace tpuslice

// What the API server accepts as a name, a label key and a label value, and its wording of why not.
//
// Each check returns the complaints, none when the value is good; a caller prefixes the field path and the value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/types/json.h"

namespace tpuslice {

using Complaints = std::vector<std::string>;

/// At most 63 of a-z 0-9 '-': pod hostnames, namespaces, container names.
[[nodiscard]] Complaints check_dns1123_label(std::string_view value);
/// At most 253, labels joined by '.': names of most objects.
[[nodiscard]] Complaints check_dns1123_subdomain(std::string_view value);
/// A DNS-1123 label that starts with a letter: names of Services.
[[nodiscard]] Complaints check_dns1035_label(std::string_view value);
/// "[prefix/]name": keys of labels, annotations and taints, names of resources and conditions.
[[nodiscard]] Complaints check_label_key(std::string_view value);
[[nodiscard]] Complaints check_label_value(std::string_view value);

/// InvalidArgument "<field>: Invalid value: "<value>": <complaint>" for the first complaint.
[[nodiscard]] Status first_complaint(std::string_view field, std::string_view value, const Complaints& complaints);

}  // namespace tpuslice

// Rules for RayClusters, RayJobs and RayServices alike.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tpu/rules/field_errors.h"

namespace tpuslice::rules {

/// metadata.name must be a DNS-1035 label of at most `max` characters. `children` have names that are derived from it.
void check_ray_name(const Json& object, std::size_t max, std::string_view children, FieldErrors& errors);

/// managedBy of `spec`, which is at `path`; it is immutable. `old_spec` is the stored one on an update, else null.
void check_ray_manager(const Json& spec, const Json* old_spec, const std::string& path, FieldErrors& errors);

/// The list of ports at `ports` of `object`, which is at `path`, has no more than kMaxPorts.
void check_ports_limit(const Json& object, std::initializer_list<std::string_view> ports, const std::string& path,
                       FieldErrors& errors);

/// Text that a user wrote in YAML into the string at spec.`field`: it must be a mapping, or empty.
void check_yaml_text(const Json& object, std::string_view field, FieldErrors& errors);

/// Refuses authentication by service accounts, which upstream has for RayClusters of users only. `field` of the spec
/// holds the cluster.
void forbid_service_accounts(const Json& object, std::string_view field, FieldErrors& errors);

}  // namespace tpuslice::rules

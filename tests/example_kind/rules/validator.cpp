#include "tests/example_kind/rules/validator.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/types/validation_names.h"
#include "tpu/rules/field_shapes.h"
#include "tpu/rules/limits.h"
#include "tpu/rules/tpu_rules.h"

namespace tpuslice::example {
namespace {

using rules::FieldErrors;
using rules::kOurRule;

constexpr auto kFleetShapes = [] {
  using enum rules::FieldType;
  using rules::FieldShape;
  return std::array{
      FieldShape{.path = "spec", .type = kObject, .required = true},
      FieldShape{.path = "spec.ships", .type = kInt32, .negative = false},
      FieldShape{.path = "spec.flag", .type = kString, .required = true},
      FieldShape{.path = "spec.template", .type = kObject, .required = true},
      FieldShape{.path = "spec.template.metadata", .type = kObject},
      FieldShape{.path = "spec.template.spec", .type = kObject, .required = true},
      FieldShape{.path = "spec.template.spec.containers", .type = kList, .required = true},
      // A ship restarts as a whole.
      FieldShape{.path = "spec.template.spec.restartPolicy", .type = kString, .values = "Never"},
  };
}();

void check_ships(const FleetSpec& spec, FieldErrors& errors) {
  if (spec.ships > kMaxShips) {
    errors.push_back(
        rules::invalid_value("spec.ships", spec.ships, fmt::format("must be no more than {}", kMaxShips), kOurRule));
  } else if (spec.ships * spec.hosts > rules::kMaxChildren) {
    errors.push_back(rules::invalid_value(
        "spec.ships", spec.ships,
        fmt::format("must be no more than {} with slices of {} hosts", rules::kMaxChildren / spec.hosts, spec.hosts),
        kOurRule));
  }
}

/// The name of the longest pod, which is its hostname, and that of the service.
void check_names(const FleetSpec& spec, FieldErrors& errors) {
  if (spec.key.name.empty()) return;  // The API server requires a name.
  const std::string pod = pod_name(spec.key.name, {std::max<std::int64_t>(spec.ships - 1, 0), spec.hosts - 1});
  for (const std::string& detail : check_dns1035_label(pod)) {
    errors.push_back(
        rules::invalid_value("metadata.name", spec.key.name, fmt::format("pod name {}: {}", pod, detail), kOurRule));
  }
}

void check_fleet(const Json& fleet, const FleetSpec& spec, FieldErrors& errors) {
  rules::check_shapes(fleet, kFleetShapes, kOurRule, errors);
  check_ships(spec, errors);
  check_names(spec, errors);
  if (spec.pod_template == nullptr || !spec.pod_template->is_object()) return;
  rules::HostsField hosts;  // The number of pods follows from the topology, so it cannot be wrong.
  hosts.path = "spec.template";
  hosts.pods = spec.hosts;
  hosts.advice = [](int) { return std::string(); };
  rules::check_tpu_pod(*spec.pod_template, "spec.template", hosts, errors);
}

}  // namespace

FieldErrors validate_fleet(const Json& fleet, const Json* old) {
  if (!fleet.is_object()) return {rules::invalid_value("spec", fleet, "must be an object", rules::kKubernetesRule)};
  const FleetSpec spec = FleetSpec::read(fleet);
  const FleetSpec old_spec = old == nullptr ? FleetSpec() : FleetSpec::read(*old);
  rules::FieldCheck check_stored;
  if (old != nullptr) check_stored = [&](FieldErrors& errors) { check_fleet(*old, old_spec, errors); };
  FieldErrors errors = rules::new_errors([&](FieldErrors& found) { check_fleet(fleet, spec, found); }, check_stored);
  if (old == nullptr || spec.pod_template == nullptr || old_spec.pod_template == nullptr) return errors;
  if (*spec.pod_template != *old_spec.pod_template) {
    errors.push_back(rules::immutable("spec.template", *spec.pod_template, *old_spec.pod_template, kOurRule));
  }
  return errors;
}

FieldErrors validate_stored_fleet(const Typed<FleetSpec>& fleet) {
  FieldErrors errors;
  check_fleet(fleet.json(), fleet.spec(), errors);
  return errors;
}

std::vector<std::string> warn_fleet(const Json& fleet, const Json* /*old*/) {
  const Json* pod_template = find_set(fleet, {"spec", "template"});
  if (pod_template == nullptr || rules::asks_for_tpus(*pod_template)) return {};
  return {"spec.template: no container asks for google.com/tpu, so the ships are not placed as slices"};
}

}  // namespace tpuslice::example

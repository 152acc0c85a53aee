#include "tests/example_kind/rules/spec.h"

#include <fmt/format.h>

#include "tpu/slice_shape.h"

namespace tpuslice::example {

FleetSpec FleetSpec::read(const Object& fleet) {
  FleetSpec spec = read(fleet.json());
  spec.owner = fleet.as_controller();
  return spec;
}

FleetSpec FleetSpec::read(const Json& fleet) {
  FleetSpec spec;
  spec.key = {string_at(fleet, {"metadata", "namespace"}), string_at(fleet, {"metadata", "name"})};
  spec.uid = string_at(fleet, {"metadata", "uid"});
  spec.generation = int_at(fleet, {"metadata", "generation"});
  spec.ships = int_at(fleet, {"spec", "ships"}, 1);
  spec.flag = string_at(fleet, {"spec", "flag"});
  spec.pod_template = find_set(fleet, {"spec", "template"});
  if (spec.pod_template != nullptr) spec.hosts = tpu::selected_hosts(*spec.pod_template).value_or(1);
  return spec;
}

std::string ship_name(std::string_view fleet, std::int64_t ship) { return fmt::format("{}-{}", fleet, ship); }

std::string pod_name(std::string_view fleet, HostIndex index) {
  return fmt::format("{}-{}", ship_name(fleet, index.ship), index.host);
}

std::string flag_name(std::string_view fleet) { return fmt::format("{}-flag", fleet); }

}  // namespace tpuslice::example

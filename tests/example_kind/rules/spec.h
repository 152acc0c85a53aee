// FleetSpec: fields of a Fleet that admission and the controller read, with their defaults.
#pragma once

#include <cstdint>
#include <string>

#include "api/types/object.h"

namespace tpuslice::example {

/// Borrows from the object it was read from. Fields are not validated; rules/validator.h does that.
struct FleetSpec {
  ObjectKey key;
  std::string uid;
  std::int64_t generation = 0;
  ControllerRef owner;  ///< The owner reference of children.
  std::int64_t ships = 1;
  std::string flag;
  const Json* pod_template = nullptr;  ///< Null if absent, which is invalid.
  std::int64_t hosts = 1;              ///< Pods of a ship: the hosts of its slice, 1 without TPUs.

  static FleetSpec read(const Object& fleet);
  /// Reads a Fleet, without the owner reference.
  static FleetSpec read(const Json& fleet);
  // It would borrow from a temporary.
  static FleetSpec read(const Json&&) = delete;
  static FleetSpec read(const Object&&) = delete;
};

/// One pod of a Fleet.
struct HostIndex {
  std::int64_t ship = 0;
  std::int64_t host = 0;
  friend auto operator<=>(const HostIndex&, const HostIndex&) = default;
};

/// "north-1"
[[nodiscard]] std::string ship_name(std::string_view fleet, std::int64_t ship);
/// "north-1-0", the name and the hostname.
[[nodiscard]] std::string pod_name(std::string_view fleet, HostIndex index);
/// "north-flag", the name of the ConfigMap.
[[nodiscard]] std::string flag_name(std::string_view fleet);

}  // namespace tpuslice::example

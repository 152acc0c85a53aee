// UnsupportedField: a field that upstream's controller of a kind implements and ours does not.
#pragma once

#include <string>

namespace tpuslice::rules {

/// Refused where our controller serves the kind, as it would have no effect.
struct UnsupportedField {
  std::string path;    ///< "spec.enableInTreeAutoscaling"
  std::string reason;  ///< Why, and what to do instead.
  friend bool operator==(const UnsupportedField&, const UnsupportedField&) = default;
};

}  // namespace tpuslice::rules

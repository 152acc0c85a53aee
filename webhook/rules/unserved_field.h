// UnservedField: a field that the upstream controller of a kind serves and ours does not.
#pragma once

#include <string>

namespace tpuslice::webhook {

/// In use, it would silently do nothing; so it is refused where our controller serves the kind.
struct UnservedField {
  std::string path;    ///< "spec.enableInTreeAutoscaling"
  std::string reason;  ///< Why, and what to do instead.
  friend bool operator==(const UnservedField&, const UnservedField&) = default;
};

}  // namespace tpuslice::webhook

// EnvVar: a variable of a container's environment that we add.
#pragma once

#include <string>

#include "api/types/json.h"

namespace tpuslice::tpu {

struct EnvVar {
  std::string name;
  std::string value;       ///< Used if field_path is empty.
  std::string field_path;  ///< Downward API, e.g. "status.hostIP".

  [[nodiscard]] Json to_json() const {
    if (field_path.empty()) return {{"name", name}, {"value", value}};
    return {{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", field_path}}}}}};
  }
  friend bool operator==(const EnvVar&, const EnvVar&) = default;
};

}  // namespace tpuslice::tpu

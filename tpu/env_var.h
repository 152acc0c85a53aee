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
    Json made;
    made["name"] = name;
    if (field_path.empty()) {
      made["value"] = value;
    } else {
      made["valueFrom"]["fieldRef"]["fieldPath"] = field_path;
    }
    return made;
  }
  friend bool operator==(const EnvVar&, const EnvVar&) = default;
};

}  // namespace tpuslice::tpu

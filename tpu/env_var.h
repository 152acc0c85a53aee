// EnvVar: an environment variable that we inject.
#pragma once

#include <string>

#include "api/types/json.h"

namespace tpuslice::tpu {

struct EnvVar {
  std::string name;
  std::string value;       ///< Used if field_path is empty.
  std::string field_path;  ///< Downward API, e.g. "status.hostIP".

  [[nodiscard]] Json to_json() const {
    Json json;
    json["name"] = name;
    if (field_path.empty()) {
      json["value"] = value;
    } else {
      json["valueFrom"]["fieldRef"]["fieldPath"] = field_path;
    }
    return json;
  }
  friend bool operator==(const EnvVar&, const EnvVar&) = default;
};

}  // namespace tpuslice::tpu

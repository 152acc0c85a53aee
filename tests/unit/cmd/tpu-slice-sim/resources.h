// Documents and resources by name, for tests of schemas and patches.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/types/json.h"
#include "cmd/tpu-slice-sim/resources/builtin_resources.h"

namespace tpuslice::sim::testing {

inline Json parse(const std::string& text) { return Json::parse(text); }

/// The built-in resource of a kind; of Events, the core group's.
inline Resource resource(std::string_view kind) {
  for (Resource& each : builtin_resources()) {
    if (each.kind == kind && each.group != "events.k8s.io") return each;
  }
  ADD_FAILURE() << "no resource " << kind;
  return {};
}

}  // namespace tpuslice::sim::testing

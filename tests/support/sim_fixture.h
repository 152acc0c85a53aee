// SimFixture: a test on a simulated cluster and a fake clock.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/tpu-slice-sim/cluster/cluster.h"
#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "tests/support/builders.h"

namespace tpuslice::testing {

class SimFixture : public ::testing::Test {
 protected:
  explicit SimFixture(sim::ClusterOptions options = {}) : cluster_(clock_, std::move(options)) {}

  /// Applies a valid object.
  Json apply(const Json& manifest) {
    auto applied = cluster_.apply(manifest);
    EXPECT_TRUE(applied.ok()) << (applied.ok() ? "" : applied.error().message());
    return applied.ok() ? applied->json() : Json();
  }
  void run_for(Duration duration) { cluster_.run_for(clock_, duration); }
  [[nodiscard]] bool run_until(const std::function<bool()>& condition, Duration limit = std::chrono::minutes(5)) {
    return cluster_.run_until(clock_, limit, condition);
  }

  [[nodiscard]] Json pod(const std::string& name, const std::string& space = "default") const {
    const sim::JsonPtr found = cluster_.get("pods", {space, name});
    return found == nullptr ? Json() : *found;
  }
  [[nodiscard]] std::string node_of(const std::string& name) const {
    return string_at(pod(name), {"spec", "nodeName"});
  }
  [[nodiscard]] std::string phase_of(const std::string& name) const {
    return string_at(pod(name), {"status", "phase"});
  }
  [[nodiscard]] bool ready(const std::string& name) const { return condition(name, "Ready") == "True"; }
  [[nodiscard]] std::string condition(const std::string& name, const std::string& type) const {
    return sim::condition_status(pod(name), type);
  }
  /// A field of a condition of a pod.
  [[nodiscard]] std::string condition(const std::string& name, const std::string& type,
                                      const std::string& field) const {
    const Json found = pod(name);
    for (const Json& entry : found["status"]["conditions"]) {
      if (string_at(entry, {"type"}) == type) return string_at(entry, {field});
    }
    return {};
  }
  [[nodiscard]] std::vector<std::string> names(const std::string& resource, const std::string& space = {}) {
    std::vector<std::string> out;
    for (const sim::JsonPtr& object : cluster_.storage().list(resource, space)) {
      out.push_back(string_at(*object, {"metadata", "name"}));
    }
    return out;
  }

  FakeClock clock_;
  sim::Cluster cluster_;
};

}  // namespace tpuslice::testing

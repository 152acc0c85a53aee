// TwoReplicas: this version of the operator as two replicas on a real control plane.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "api/types/yaml.h"
#include "tests/e2e/uninstall/workloads.h"
#include "tests/e2e/upgrade/replicas.h"
#include "tests/support/eventually.h"

namespace tpuslice::testing {

inline constexpr ResourceType kJobSets{"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"};

class TwoReplicas : public ::testing::Test {
 protected:
  explicit TwoReplicas(ControlPlaneOptions options) : options_(std::move(options)) {}

  /// One of them leads. Without the programs of the control plane, the tests are skipped.
  void SetUp() override {
    auto plane = ControlPlane::start(options_);
    if (!plane && plane.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << plane.error().message();
    ASSERT_TRUE(plane.ok()) << plane.error().message();
    plane_ = *std::move(plane);
    replicas_ = std::make_unique<Replicas>(*plane_);
    ASSERT_TRUE(replicas_->install(this_release()).ok());
    const Status started = replicas_->roll_out(this_release());
    ASSERT_TRUE(started.ok()) << started.error().message();
    ASSERT_TRUE(eventually([&] { return replicas_->leader() != nullptr; }));
  }
  void TearDown() override {
    replicas_.reset();
    if (plane_ && HasFailure()) plane_->keep_dir();
  }

  [[nodiscard]] client::Client& api() { return plane_->client(); }
  void create_jobset(const std::string& name) {
    Json jobset = parse_yaml(jobset_manifest(name, false)).value();
    jobset["metadata"]["namespace"] = "default";
    const auto created = api().create(kJobSets, Object(jobset));
    ASSERT_TRUE(created.ok()) << created.error().message();
  }
  /// The JobSet was reconciled.
  [[nodiscard]] bool has_job(const std::string& name) { return api().get(kJobs, {"default", name + "-slice-0"}).ok(); }

  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<Replicas> replicas_;

 private:
  const ControlPlaneOptions options_;
};

}  // namespace tpuslice::testing

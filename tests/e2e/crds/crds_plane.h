// CrdsPlane: a real API server, without controllers, and kubectl with its administrator's kubeconfig.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/control_plane.h"

namespace tpuslice::testing {

struct CommandOutput {
  int exit_code = -1;
  std::string text;  ///< stdout and stderr.
};

/// The tests of a suite share the API server. Each starts without CRDs.
class CrdsPlane : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  static void TearDownTestSuite() { plane() = nullptr; }

  /// In the source folder.
  CommandOutput run(const std::string& command);
  /// Expects that it succeeds.
  std::string expect_run(const std::string& command);
  /// The JSON that it prints.
  Json expect_json(const std::string& command);
  /// deploy/crds, by server-side apply.
  void install();
  /// Waits until the API server serves all definitions and has published their schemas.
  void wait_established();
  /// Deletes the definitions that `which` names and expects that all are gone within three minutes.
  void delete_crds(const std::string& which);
  /// Writes a manifest. Returns its path.
  std::string write(const Json& object);

  static std::unique_ptr<ControlPlane>& plane();

 private:
  static int& commands();
};

/// The documents of YAML files.
[[nodiscard]] std::vector<Json> read_documents(const std::vector<std::string>& paths);

/// Files of a folder whose names begin with `prefix` and end with ".yaml", sorted.
[[nodiscard]] std::vector<std::string> yaml_files(const std::string& folder, const std::string& prefix = {});

/// An object of each kind that is valid, named "valid"; of RayCluster with one worker group.
[[nodiscard]] Json valid_object(const std::string& kind);

}  // namespace tpuslice::testing

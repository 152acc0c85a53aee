// DocsPlane: a real control plane on which the commands of pages are run; see PageRunner.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "tests/e2e/docs/page_runner.h"
#include "tests/e2e/install/install_plane.h"
#include "tests/e2e/uninstall/workloads.h"

namespace tpuslice::testing {

/// All suites of this fixture share the control plane, which ends with the program. Each test leaves it as it was, but
/// for nodes.
class DocsPlane : public InstallPlane {
 public:
  static void stop_plane() { InstallPlane::TearDownTestSuite(); }

 protected:
  static void TearDownTestSuite() {}
  void TearDown() override;

  /// Commands without a namespace are run in `namespace_name`, which exists.
  void start_pages(const std::string& namespace_name);
  [[nodiscard]] PageRunner& pages() { return *pages_; }

  /// Writes and applies a manifest in the namespace of the pages.
  void apply_here(const std::string& manifest);
  /// Expects that the command succeeds, repeated for up to three minutes.
  void wait_until(const std::string& command);
  /// Waits until this many pods with TPUs run in the namespace of the pages.
  void wait_running(int pods);
  /// Name to uid of the pods with TPUs in the namespace of the pages that run.
  [[nodiscard]] std::map<std::string, std::string> running_pods();

 private:
  std::unique_ptr<PageRunner> pages_;
  std::string namespace_;
  int manifests_ = 0;
};

/// workload_of(), with another name.
[[nodiscard]] std::string workload_named(const std::string& kind, const std::string& name);

}  // namespace tpuslice::testing

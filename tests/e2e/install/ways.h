// The ways to install the operator that docs/install.md describes.
#pragma once

#include <string>
#include <vector>

namespace tpuslice::testing {

struct InstallWay {
  std::string name;
  std::string install;                  ///< Shell commands, as on the page.
  std::string remove;                   ///< Likewise; it leaves nothing but the CRDs of Helm, and its namespace.
  std::vector<std::string> kinds = {};  ///< Of the workloads that its controllers serve.
  bool gated = true;                    ///< Slices are placed by the operator.
};

[[nodiscard]] const std::vector<InstallWay>& install_ways();

/// A workload of that kind, named as the kind, with one slice of four hosts.
[[nodiscard]] std::string workload_of(const std::string& kind);

}  // namespace tpuslice::testing

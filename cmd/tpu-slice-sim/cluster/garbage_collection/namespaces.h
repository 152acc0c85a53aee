// Namespaces: initial content and deletion of namespaces.
#pragma once

#include <set>
#include <string>

#include "cmd/tpu-slice-sim/cluster/change_feed.h"
#include "cmd/tpu-slice-sim/registry/registry.h"

namespace tpuslice::sim {

/// Creates the service account `default` and the config map kube-root-ca.crt in each namespace. Deletes the content of
/// a terminating namespace, then finalizes it. Not thread-safe.
class Namespaces {
 public:
  /// `ca`: PEM for kube-root-ca.crt.
  Namespaces(Registry& registry, std::string ca);

  bool step();

 private:
  bool furnish(const std::string& name);
  bool empty(const Json& space);

  Registry& registry_;
  const std::string ca_;
  ChangeFeed feed_;
  std::set<std::string> terminating_;
  std::set<std::string> dirty_;
};

}  // namespace tpuslice::sim

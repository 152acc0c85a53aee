// Namespaces: what every namespace starts with, and how one ends.
#pragma once

#include <set>
#include <string>

#include "api/sim/cluster/change_feed.h"
#include "api/sim/registry.h"

namespace tpuslice::sim {

/// Gives each namespace the service account `default` and the config map kube-root-ca.crt. Empties a namespace that is
/// being deleted, then lets it go. Not thread-safe.
class Namespaces {
 public:
  /// `ca` is the PEM that kube-root-ca.crt holds.
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

// Endpoints: which pods stand behind each service, as Endpoints and EndpointSlice objects.
#pragma once

#include <map>
#include <set>
#include <string>

#include "api/sim/cluster/change_feed.h"
#include "api/sim/registry.h"

namespace tpuslice::sim {

/// For every service with a selector. Not thread-safe.
class Endpoints {
 public:
  explicit Endpoints(Registry& registry);

  bool step();

 private:
  void observe(const Change& change);
  bool sync(const ObjectKey& service);
  bool write(const std::string& id, const ObjectKey& key, Json wanted);

  Registry& registry_;
  ChangeFeed feed_;
  std::map<ObjectKey, Json> selectors_;  ///< Of the services that have one.
  std::set<ObjectKey> dirty_;
};

}  // namespace tpuslice::sim

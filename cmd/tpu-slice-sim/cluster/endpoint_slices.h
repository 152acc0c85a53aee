// EndpointSlices: the pods of each service, as an EndpointSlice object.
#pragma once

#include <map>
#include <set>
#include <string>

#include "cmd/tpu-slice-sim/cluster/change_feed.h"
#include "cmd/tpu-slice-sim/registry/registry.h"

namespace tpuslice::sim {

/// Writes the endpoint slices of every service with a selector. Not thread-safe.
class EndpointSlices {
 public:
  explicit EndpointSlices(Registry& registry);

  bool step();

 private:
  void observe(const Change& change);
  bool sync(const ObjectKey& service);
  bool write(const ObjectKey& key, Json wanted);

  Registry& registry_;
  ChangeFeed feed_;
  std::map<ObjectKey, Json> selectors_;  ///< Selectors of the services that have one.
  std::set<ObjectKey> dirty_;
};

}  // namespace tpuslice::sim

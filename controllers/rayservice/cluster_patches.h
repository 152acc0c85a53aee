// ClusterPatches: what a plan changes of RayClusters, one patch for each.
#pragma once

#include <map>
#include <string>

#include "controllers/plan/changes.h"
#include "controllers/rayservice/clusters.h"

namespace tpuslice::rayservice {

class ClusterPatches {
 public:
  /// `exact`: the patch replaces lists, so the cluster must be as observed.
  void add(const Cluster& cluster, const Json& merge_patch, bool exact = false);
  /// Null: the annotation is removed.
  void annotate(const Cluster& cluster, std::string_view key, const Json& value);
  /// Adds what is reported of the patch of the cluster.
  void report(const Cluster& cluster, const plan::ActionEvents& events);

  [[nodiscard]] std::vector<plan::Action> actions() const;

 private:
  struct Patch {
    const Cluster* cluster = nullptr;
    Json body = Json::object();
    bool exact = false;
    plan::ActionEvents events;
  };
  std::map<std::string, Patch> patches_;
};

}  // namespace tpuslice::rayservice

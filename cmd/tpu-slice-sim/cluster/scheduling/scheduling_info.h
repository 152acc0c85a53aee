// PodInfo and NodeInfo: decoded pods and nodes of the scheduler.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/types/object.h"
#include "cmd/tpu-slice-sim/cluster/scheduling/requirements.h"

namespace tpuslice::sim {

/// Quantities by resource name, in thousandths.
using Amounts = std::map<std::string, std::int64_t, std::less<>>;
void add(Amounts& to, const Amounts& amounts);
void subtract(Amounts& from, const Amounts& amounts);

struct Toleration {
  std::string key;
  std::string op;
  std::string value;
  std::string effect;
  std::optional<std::int64_t> seconds;
};

struct Taint {
  std::string key;
  std::string value;
  std::string effect;
};

[[nodiscard]] std::vector<Toleration> tolerations_of(const Json& pod);
[[nodiscard]] std::vector<Taint> taints_of(const Json& node);
[[nodiscard]] bool tolerates(const Toleration& toleration, const Taint& taint);
[[nodiscard]] bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);

/// One term of pod (anti-)affinity, with the defaults from the pod's namespace and labels.
struct PodTerm {
  std::string topology_key;
  std::optional<Requirements> selector;  ///< Absent: matches no pod.
  std::set<std::string> namespaces;
  std::optional<Requirements> namespace_selector;  ///< Adds the namespaces whose labels match.
  int weight = 0;                                  ///< Preferred terms only.
};

/// One term of node affinity: all requirements must hold.
struct NodeTerm {
  Requirements labels;
  Requirements fields;
  int weight = 0;
};

struct PodInfo {
  ObjectKey key;
  std::string uid;
  std::uint64_t seen = 0;  ///< Order of creation.
  StringMap labels;
  std::string node_name;
  std::int64_t priority = 0;
  bool gated = false;
  bool finished = false;
  bool terminating = false;
  Amounts requests;
  std::vector<Toleration> tolerations;
  StringMap node_selector;
  std::optional<std::vector<NodeTerm>> node_affinity;  ///< Any of them must hold.
  std::vector<NodeTerm> preferred_nodes;
  std::vector<PodTerm> affinity;
  std::vector<PodTerm> anti_affinity;
  std::vector<PodTerm> preferred_affinity;
  std::vector<PodTerm> preferred_anti_affinity;

  static PodInfo decode(const Json& pod);
};

struct NodeInfo {
  std::string name;
  StringMap labels;
  std::vector<Taint> taints;
  bool unschedulable = false;
  bool ready = false;
  Amounts allocatable;
  Amounts requested;  ///< By bound pods; maintained by the scheduler.

  /// Keeps `requested`.
  void decode(const Json& node);
};

}  // namespace tpuslice::sim

// Report: what a drain did, and what it could not do.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tpuslice::drain {

using CountByNamespace = std::map<std::string, std::size_t>;

/// What still holds something, why, and what to do.
struct Remaining {
  std::string what;     ///< "pod default/train-0: <error>"
  std::string command;  ///< Empty: the text of `what` says it.
};

struct Report {
  bool dry_run = false;
  std::vector<std::string> configurations;  ///< Deleted: "MutatingWebhookConfiguration tpu-slice-operator".
  CountByNamespace templates;               ///< Jobs and StatefulSets from whose templates the gate was removed.
  CountByNamespace pods;
  std::size_t slices = 0;  ///< Slices of those pods.
  CountByNamespace scouts;
  CountByNamespace finalizers;
  std::vector<std::string> notes;  ///< What the administrator should know, and has not to act on at once.
  std::vector<Remaining> remaining;

  [[nodiscard]] bool complete() const { return remaining.empty(); }
  /// Text for people; names at most ten namespaces for each number, and at most twenty remaining objects.
  [[nodiscard]] std::string to_string() const;
};

}  // namespace tpuslice::drain

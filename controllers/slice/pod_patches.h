// The writes to pods of a slice.
#pragma once

#include <string>
#include <vector>

#include "controllers/slice/slice.h"

namespace tpuslice::slice {

struct Release {
  std::string topology_key;
  std::string domain;              ///< Empty: no domain is set.
  std::vector<std::string> nodes;  ///< Node of each host, by host index; empty: any node of the domain.
  std::string members;             ///< members_of() the slice.
  Timestamp placed_at;
};

/// Removes the gate and sets domain and node in one write, which fails if the pod has changed. For host 0 this write
/// records that the slice is placed, and where.
///
/// The node is set as required node affinity by name: kube-scheduler then considers that node only.
[[nodiscard]] plan::Action release_pod(const PodView& pod, const Release& release);

[[nodiscard]] plan::Action set_waiting_reason(const PodView& pod, const std::string& reason);

[[nodiscard]] plan::Action delete_pod(const PodView& pod);

}  // namespace tpuslice::slice

// The writes to pods by which a slice is placed, told about and torn down.
#pragma once

#include <string>
#include <vector>

#include "controllers/slice/slice.h"

namespace tpuslice::slice {

struct Release {
  std::string topology_key;
  std::string domain;              ///< Where the pod has to go; empty: wherever its affinities let it.
  std::vector<std::string> nodes;  ///< Of the domain, by host index; empty: whichever.
  std::string members;             ///< members_of() the slice.
  Timestamp placed_at;
};

/// Lets the pod go: gate off and domain on in one write, which fails if the pod has changed. Of host 0 this is the
/// record that the slice has been placed, and where.
///
/// A host that has a node of its own is bound to it by name: kube-scheduler then looks at that node instead of at all
/// of them.
[[nodiscard]] runtime::Action release_pod(const PodView& pod, const Release& release);

/// Says on the pod why its slice waits.
[[nodiscard]] runtime::Action tell_pod(const PodView& pod, const std::string& why);

[[nodiscard]] runtime::Action delete_pod(const PodView& pod);

}  // namespace tpuslice::slice

// The writes to pods by which a slice is placed, told about and torn down.
#pragma once

#include <string>

#include "controllers/slice/slice.h"

namespace tpuslice::slice {

struct Release {
  std::string topology_key;
  std::string domain;   ///< Where the pod has to go; empty: wherever its affinities let it.
  std::string members;  ///< members_of() the slice.
  Timestamp placed_at;
};

/// Lets the pod go: gate off and domain on in one write, which fails if the pod has changed. Of host 0 this is the
/// record that the slice has been placed.
[[nodiscard]] runtime::Action release_pod(const PodView& pod, const Release& release);

/// Says on the pod why its slice waits.
[[nodiscard]] runtime::Action tell_pod(const PodView& pod, const std::string& why);

[[nodiscard]] runtime::Action delete_pod(const PodView& pod);

}  // namespace tpuslice::slice

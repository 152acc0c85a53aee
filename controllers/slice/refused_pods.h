// What follows from writes to pods of slices that failed (controllers/plan/failed_writes.h). Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controllers/plan/failed_writes.h"
#include "controllers/slice/slice.h"

namespace tpuslice::slice {

/// The release of the pod keeps failing; null if it does not. `failed` may be null.
[[nodiscard]] const plan::FailedWrite* refused_release(const PodView& pod, const plan::FailedWrites* failed);
/// The release that is due last among those of the slice's live pods; null if none keeps failing.
[[nodiscard]] const plan::FailedWrite* refused_release(const Slice& slice, const plan::FailedWrites* failed);
/// The deletion of one of its started pods keeps failing.
[[nodiscard]] bool cannot_be_deleted(const Slice& slice, const plan::FailedWrites* failed);

/// Text for a waiting reason: "its pods cannot be changed: <error>; <what to do>".
[[nodiscard]] std::string explain_refusal(const plan::FailedWrite& release);

/// Why a slice is left out of placement, and until when.
struct Hold {
  std::string reason;
  Timestamp until = {};
};
struct HeldSlice {
  const Slice* slice = nullptr;
  Hold hold;
};
/// Takes from `ready` the slices that `hold_of` holds, and all slices that start together with them.
[[nodiscard]] std::vector<HeldSlice> take_held(std::vector<const Slice*>& ready,
                                               const std::function<std::optional<Hold>(const Slice&)>& hold_of);
/// Holds a slice whose pods could not be released and that is not tried again yet. `failed` may be null.
[[nodiscard]] std::optional<Hold> hold_of_refused(const Slice& slice, const plan::FailedWrites* failed, Timestamp now);

}  // namespace tpuslice::slice

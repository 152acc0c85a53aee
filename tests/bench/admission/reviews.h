// What the API server sends: the review of the creation of one Ray worker pod, as KubeRay makes it.
#pragma once

#include <string>
#include <vector>

#include "api/base/result.h"

namespace tpuslice::bench {

/// Bodies of reviews (review.json) of `count` pods, all hosts of slices of four. Each has been admitted once, with a
/// patch. Errors: Internal if one was not.
[[nodiscard]] Result<std::vector<std::string>> prepare_reviews(int count);

}  // namespace tpuslice::bench

// Admission reviews of the creation of Ray worker pods of KubeRay.
#pragma once

#include <string>
#include <vector>

#include "api/base/result.h"

namespace tpuslice::bench {

/// Bodies of reviews (review.json) of `count` pods, which form slices of four hosts. Errors: Internal if a review is
/// not admitted with a patch.
[[nodiscard]] Result<std::vector<std::string>> prepare_reviews(int count);

}  // namespace tpuslice::bench

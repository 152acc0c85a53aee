// Reviews: TokenReview and SubjectAccessReview. They are answered at once, never stored; everybody may do everything.
#pragma once

#include "api/sim/registry.h"

namespace tpuslice::sim {

[[nodiscard]] bool is_review(const Resource& resource);

/// The review with its status. A token authenticates as who sent the review.
[[nodiscard]] Json answer_review(Json review, const UserInfo& user);

}  // namespace tpuslice::sim

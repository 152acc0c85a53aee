#include "api/sim/reviews.h"

#include "api/sim/builtin_resources.h"

namespace tpuslice::sim {

bool is_review(const Resource& resource) { return create_only(resource); }

Json answer_review(Json review, const UserInfo& user) {
  if (string_at(review, {"kind"}) == "TokenReview") {
    const bool given = !string_at(review, {"spec", "token"}).empty();
    review["status"] = {{"authenticated", given}};
    if (given) review["status"]["user"] = {{"username", user.name}, {"groups", user.groups}};
    return review;
  }
  review["status"] = {{"allowed", true}, {"reason", "everybody may do everything in a simulated cluster"}};
  return review;
}

}  // namespace tpuslice::sim

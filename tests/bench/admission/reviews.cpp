#include "tests/bench/admission/reviews.h"

#include <iterator>

#include "api/base/file.h"
#include "api/types/json.h"
#include "tests/support/admission.h"
#include "webhook/admission_handler.h"

namespace tpuslice::bench {
namespace {

constexpr int kHosts = 4;  ///< Of the topology in review.json.

Result<Json> read_review() {
  ASSIGN_OR_RETURN(const std::string text, read_file(TPUSLICE_BENCH_REVIEW));
  return parse_json(text);
}

Status check_admitted(const std::string& body) {
  const http::Response response =
      webhook::handle_admission({"POST", std::string(webhook::kMutatePodPath), {}, body}, with_kinds());
  const auto answer = parse_json(response.body);
  if (response.status != 200 || !answer || string_at(*answer, {"response", "patch"}).empty()) {
    return Error::internal("a review was not admitted with a patch: {} {}", response.status, response.body);
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> prepare_reviews(int count) {
  ASSIGN_OR_RETURN(Json review, read_review());
  std::vector<std::string> bodies;
  for (int i = 0; i < count; ++i) {
    Json& request = review["request"];
    Json& metadata = request["object"]["metadata"];
    const std::string name = fmt::format("maxtext-tpu-cluster-tpu-group-worker-{:05}", i);
    request["uid"] = fmt::format("0df28fbd-5f5f-11e8-bc74-{:012}", i);
    request["name"] = name;
    metadata["name"] = name;
    metadata["labels"]["ray.io/worker-group-replica-name"] = fmt::format("tpu-group-{:05}", i / kHosts);
    metadata["labels"]["ray.io/worker-group-replica-index"] = std::to_string(i / kHosts);
    metadata["labels"]["ray.io/replica-host-index"] = std::to_string(i % kHosts);
    bodies.push_back(review.dump());
    RETURN_IF_ERROR(check_admitted(bodies.back()));
  }
  return bodies;
}

}  // namespace tpuslice::bench

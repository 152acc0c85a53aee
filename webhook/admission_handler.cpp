#include "webhook/admission_handler.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include <fmt/format.h>

#include "tpu/labels.h"
#include "tpu/rules/tpu_rules.h"
#include "webhook/workload_admission.h"

namespace tpuslice::webhook {
namespace {

/// Left out of reviews of workloads: it can be most of an object, and no rule reads it.
constexpr std::array<std::string_view, 1> kManagedFields = {"managedFields"};

/// Members of these names are skipped, at any depth, in reviews of pods: the mutator neither reads nor writes them,
/// also not as keys of labels or annotations, so the patch does not depend on them. initContainers is first, as some
/// kinds mutate them.
constexpr auto kIgnoredPodFields = std::to_array<std::string_view>(
    {"initContainers", "managedFields", "status",         "volumes",      "volumeMounts",  "securityContext",
     "command",        "args",          "image",          "ports",        "lifecycle",     "envFrom",
     "livenessProbe",  "workingDir",    "readinessProbe", "startupProbe", "volumeDevices", "userInfo",
     "requestKind",    "options",       "requestResource"});

/// Bytes of a reply that is not a review.
constexpr std::size_t kMaxText = 4096;

bool contains(std::string_view text, std::string_view part) {
  const std::boyer_moore_horspool_searcher searcher(part.begin(), part.end());
  return std::search(text.begin(), text.end(), searcher) != text.end();
}

/// The fields that may be left out of this review of a pod.
std::span<const std::string_view> ignored_pod_fields(std::string_view review, rules::WorkloadKinds kinds) {
  const bool init = std::ranges::any_of(kinds, [&](const rules::WorkloadKind* kind) {
    return kind->injects_init_containers && contains(review, kind->pod_label);
  });
  return std::span<const std::string_view>(kIgnoredPodFields).subspan(init ? 1 : 0);
}

Result<AdmissionRequest> decode_pod_review(const std::string& body, rules::WorkloadKinds kinds) {
  const std::span<const std::string_view> ignored = ignored_pod_fields(body, kinds);
  ASSIGN_OR_RETURN(AdmissionRequest review, decode_review(body, ignored));
  // Init containers may have the chips.
  if (ignored.front() != kIgnoredPodFields.front() || rules::asks_for_tpus(review.object)) return review;
  return decode_review(body, ignored.subspan(1));
}

http::Response text_response(int status, std::string body) {
  body.resize(std::min(body.size(), kMaxText));
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(body)};
}

/// Null if no kind is validated at the path.
const rules::WorkloadKind* kind_at(std::string_view path, rules::WorkloadKinds kinds) {
  const auto found = std::ranges::find(kinds, path, &rules::WorkloadKind::path);
  return path.empty() || found == kinds.end() ? nullptr : *found;
}

std::string known_paths(rules::WorkloadKinds kinds) {
  std::string paths(kMutatePodPath);
  for (const rules::WorkloadKind* kind : kinds) {
    if (!kind->path.empty()) paths += fmt::format(", {}", kind->path);
  }
  return paths;
}

}  // namespace

AdmissionResponse admit_pod(AdmissionRequest request, const rules::MutationOptions& options) {
  AdmissionResponse response;
  const bool is_pod = request.kind == "Pod" && request.group.empty() && request.subresource.empty();
  if (!is_pod || request.operation != "CREATE") return response;
  Json& pod = request.object;
  // The API server sets a pod's namespace after admission; the request has it.
  Json& metadata = pod["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  if (metadata.is_object() && string_at(metadata, {"namespace"}).empty()) {
    metadata["namespace"] = request.namespace_name;
  }
  Result<rules::PodReview> review = rules::review_pod(pod, options);
  if (!review) {
    response.allowed = false;
    response.code = 422;
    response.reason = "Invalid";
    response.message = review.error().message();
    return response;
  }
  response.patch = std::move(review->patch);
  if (!response.patch.empty()) {
    const std::string slice = string_at(pod, {"metadata", "labels", tpu::kSlice});
    if (!slice.empty()) response.audit["slice"] = slice;
  }
  response.warnings = std::move(review->warnings);
  return response;
}

http::Response handle_admission(const http::Request& request, const rules::MutationOptions& options,
                                AdmissionRecord* record) {
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  const rules::WorkloadKind* kind = kind_at(path, options.kinds);
  if (kind == nullptr && path != kMutatePodPath) {
    return text_response(404, fmt::format("paths are {}\n", known_paths(options.kinds)));
  }
  if (request.method != "POST") return text_response(405, "admission reviews are sent by POST\n");
  if (request.body.size() > kMaxReviewBytes) {
    return text_response(413, fmt::format("an admission review has at most {} bytes\n", kMaxReviewBytes));
  }
  Result<AdmissionRequest> review =
      kind == nullptr ? decode_pod_review(request.body, options.kinds) : decode_review(request.body, kManagedFields);
  if (!review) return text_response(400, review.error().message() + "\n");
  const std::string uid = review->uid;
  const std::string name = review->name;
  if (record != nullptr) {
    *record = {uid, review->kind, review->namespace_name, review->name, review->operation, true, 0, {}};
  }
  try {
    AdmissionResponse response = kind == nullptr
                                     ? admit_pod(*std::move(review), options)
                                     : admit_workload(*review, *kind, options.served_kinds.contains(kind->kind));
    std::string encoded = encode_limited_review(uid, name, response);
    if (record != nullptr && !response.allowed) {
      record->allowed = false;
      record->code = response.code;
      record->message = response.message;
    }
    return {200, {{"Content-Type", "application/json"}}, std::move(encoded)};
  } catch (const Json::exception& error) {
    // A field has a JSON type that the API server would have refused.
    if (record != nullptr) *record = {};
    return text_response(400, fmt::format("admission review is malformed: {}\n", error.what()));
  }
}

}  // namespace tpuslice::webhook

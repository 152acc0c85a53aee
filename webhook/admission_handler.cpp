#include "webhook/admission_handler.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include <fmt/format.h>

#include "tpu/labels.h"
#include "webhook/workload_admission.h"

namespace tpuslice::webhook {
namespace {

/// Nothing here depends on who set which field, and it can be most of an object.
constexpr std::array<std::string_view, 1> kBookkeeping = {"managedFields"};

/// What else of a pod's review the mutator neither reads nor writes, so that a patch is the same without it. These
/// names mean nothing to it anywhere else either: as a key of labels, say. Init containers, the first, are read in
/// pods of LeaderWorkerSets.
constexpr auto kUnreadOfPod = std::to_array<std::string_view>(
    {"initContainers", "managedFields", "status",         "volumes",      "volumeMounts",  "securityContext",
     "command",        "args",          "image",          "ports",        "lifecycle",     "envFrom",
     "livenessProbe",  "workingDir",    "readinessProbe", "startupProbe", "volumeDevices", "userInfo",
     "requestKind",    "options",       "requestResource"});

/// Those that may be left out of this review: without the label's name in it, it is no pod of a LeaderWorkerSet.
std::span<const std::string_view> unread_of_pod(std::string_view review) {
  static const std::boyer_moore_horspool_searcher label(tpu::kLwsName.begin(), tpu::kLwsName.end());
  const bool lws = std::search(review.begin(), review.end(), label) != review.end();
  return std::span<const std::string_view>(kUnreadOfPod).subspan(lws ? 1 : 0);
}

http::Response text_response(int status, std::string body) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(body)};
}

const WorkloadRules* rules_at(std::string_view path) {
  const auto& all = workload_rules();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const WorkloadRules& rules) { return rules.path == path; });
  return found == all.end() ? nullptr : &*found;
}

std::string known_paths() {
  std::string paths(kMutatePodPath);
  for (const WorkloadRules& rules : workload_rules()) paths += fmt::format(", {}", rules.path);
  return paths;
}

}  // namespace

AdmissionResponse admit_pod(AdmissionRequest request, const MutationOptions& options) {
  AdmissionResponse response;
  const bool is_pod = request.kind == "Pod" && request.group.empty() && request.subresource.empty();
  if (!is_pod || request.operation != "CREATE") return response;
  Json& pod = request.object;
  // A pod of the default path has no namespace yet; the request knows it.
  Json& metadata = pod["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  if (metadata.is_object() && string_at(metadata, {"namespace"}).empty()) {
    metadata["namespace"] = request.namespace_name;
  }
  Result<Json> patch = patch_pod(pod, options);
  if (!patch) {
    response.allowed = false;
    response.code = 422;
    response.reason = "Invalid";
    response.message = patch.error().message();
    return response;
  }
  response.patch = *std::move(patch);
  if (!response.patch.empty()) {
    const std::string slice = string_at(pod, {"metadata", "labels", tpu::kSlice});
    if (!slice.empty()) response.audit["slice"] = slice;
  }
  response.warnings = warn_pod(pod);
  return response;
}

bool is_admission_path(std::string_view path) { return path == kMutatePodPath || rules_at(path) != nullptr; }

http::Response handle_admission(const http::Request& request, const AdmissionOptions& options) {
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  const WorkloadRules* rules = rules_at(path);
  if (!is_admission_path(path)) return text_response(404, fmt::format("paths are {}\n", known_paths()));
  if (request.method != "POST") return text_response(405, "admission reviews are sent by POST\n");
  if (request.body.size() > kLongestReview) {
    return text_response(413, fmt::format("an admission review has at most {} bytes\n", kLongestReview));
  }
  Result<AdmissionRequest> review =
      decode_review(request.body, rules == nullptr ? unread_of_pod(request.body) : kBookkeeping);
  if (!review) return text_response(400, review.error().message() + "\n");
  const std::string uid = review->uid;
  try {
    const AdmissionResponse response =
        rules == nullptr ? admit_pod(*std::move(review), options.mutation)
                         : admit_workload(*review, *rules, options.served_kinds.contains(rules->kind));
    return {200, {{"Content-Type", "application/json"}}, encode_review(uid, response)};
  } catch (const Json::exception& error) {
    // A member of a type that no API server sends.
    return text_response(400, fmt::format("admission review is malformed: {}\n", error.what()));
  }
}

}  // namespace tpuslice::webhook

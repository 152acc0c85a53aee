// AdmissionReview (admission.k8s.io/v1): requests of the API server to a webhook, and their responses.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/json.h"
#include "tpu/rules/field_errors.h"

namespace tpuslice::webhook {

/// Larger reviews are refused. The API server sends at most 3 MiB of object, twice on updates.
inline constexpr std::size_t kMaxReviewBytes = 7U << 20U;
/// JSON values in a review, which has up to two versions of the object.
inline constexpr std::size_t kMaxReviewValues = 200'000;
/// Longer patches are refused, as JSON text: etcd stores no object of more than 1.5 MiB.
inline constexpr std::size_t kMaxPatchBytes = 3U << 19U;
/// Maximum bytes of a response: the patch in base64, and all else.
inline constexpr std::size_t kMaxReplyBytes = kMaxPatchBytes / 3 * 4 + (64U << 10U);

struct AdmissionRequest {
  std::string uid;
  std::string group;  ///< Group of the kind of `object`.
  std::string kind;
  std::string subresource;
  std::string name;  ///< Empty before the API server has generated it.
  std::string namespace_name;
  std::string operation;  ///< "CREATE", "UPDATE", ...
  Json object;            ///< Null on DELETE.
  Json old_object;        ///< Null on CREATE.
};

struct AdmissionResponse {
  bool allowed = true;
  int code = 0;         ///< If not allowed: the HTTP status for the client, 422 or 403.
  std::string reason;   ///< If not allowed: "Invalid" or "Forbidden".
  std::string message;  ///< If not allowed.
  std::string group;    ///< With causes: the object's, as kubectl prints kind and name before them.
  std::string kind;
  std::string name;
  std::vector<rules::FieldError> causes;
  Json patch = Json::array();  ///< RFC 6902; empty: no change.
  std::vector<std::string> warnings;
  std::map<std::string, std::string> audit;  ///< Keys without a prefix; the API server adds the webhook's name.
};

/// Members named in `without` are skipped at any depth of the objects.
/// Errors: InvalidArgument for anything but a v1 review with a uid and an object.
[[nodiscard]] Result<AdmissionRequest> decode_review(std::string_view body,
                                                     std::span<const std::string_view> without = {});

/// The response to the review with that uid. Warnings are truncated to 256 characters each and 4096 bytes in all, the
/// limits of the API server.
[[nodiscard]] std::string encode_review(std::string_view uid, const AdmissionResponse& response);

/// The same, with `response` replaced by a short refusal if it is longer than kMaxReplyBytes. The message says what is
/// too long; `name` is that of the object.
[[nodiscard]] std::string encode_limited_review(std::string_view uid, std::string_view name,
                                                AdmissionResponse& response);

/// 422 with each error as a cause, like the API server's own validation.
[[nodiscard]] AdmissionResponse refuse(const AdmissionRequest& request, const rules::FieldErrors& errors);

}  // namespace tpuslice::webhook

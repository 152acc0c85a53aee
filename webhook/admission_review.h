// AdmissionReview (admission.k8s.io/v1): what an API server asks a webhook, and how it is answered.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/json.h"
#include "webhook/rules/field_errors.h"

namespace tpuslice::webhook {

/// Longest review read. The API server sends at most 3 MiB of object, twice on updates.
inline constexpr std::size_t kLongestReview = 7U << 20U;

struct AdmissionRequest {
  std::string uid;
  std::string group;  ///< Of the kind of `object`.
  std::string kind;
  std::string subresource;
  std::string name;  ///< Empty while the API server has not chosen one.
  std::string namespace_name;
  std::string operation;  ///< "CREATE", "UPDATE", ...
  Json object;            ///< Null on DELETE.
  Json old_object;        ///< Null on CREATE.
};

struct AdmissionResponse {
  bool allowed = true;
  int code = 0;         ///< Refused: the HTTP status that the client gets, 422 or 403.
  std::string reason;   ///< Refused: "Invalid" or "Forbidden".
  std::string message;  ///< Refused: for a person.
  std::string group;    ///< Refused with causes: whose they are; kubectl prints kind and name before them.
  std::string kind;
  std::string name;
  std::vector<FieldError> causes;
  Json patch = Json::array();  ///< RFC 6902; empty: nothing to change.
  std::vector<std::string> warnings;
  std::map<std::string, std::string> audit;  ///< Keys without a prefix; the API server adds the webhook's name.
};

/// Members of the objects whose name is among `without` are left out: what nobody asks for need not be read.
/// Errors: InvalidArgument for anything but a v1 review with a uid and an object.
[[nodiscard]] Result<AdmissionRequest> decode_review(std::string_view body,
                                                     std::span<const std::string_view> without = {});

/// The answer to the review with that uid. Warnings are cut to 256 characters each and 4096 bytes in all, which is what
/// the API server passes on.
[[nodiscard]] std::string encode_review(std::string_view uid, const AdmissionResponse& response);

/// 422 with each error as a cause, as the API server itself refuses an object.
[[nodiscard]] AdmissionResponse refuse(const AdmissionRequest& request, std::vector<FieldError> errors);

}  // namespace tpuslice::webhook

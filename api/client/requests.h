// Requests to a Kubernetes API server, built without I/O; and errors read from its answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"
#include "api/http/transport.h"
#include "api/types/json.h"
#include "api/types/object.h"
#include "api/types/resource_type.h"

namespace tpuslice::client {

struct ListOptions {
  std::string namespace_name = {};  ///< Empty: all.
  std::string label_selector = {};
  std::string field_selector = {};
  std::int64_t limit = 500;                 ///< 0: no paging.
  std::string continue_token = {};          ///< Token of the previous page; then resource_version must be empty.
  std::string resource_version = {};        ///< Empty: the newest.
  std::string resource_version_match = {};  ///< "Exact" or "NotOlderThan"; empty: the server's default.
  /// Items are read as the view of their type (api/types/views.h): fields that it does not read may be absent.
  bool for_view = false;
  /// Items are PartialObjectMetadata: apiVersion, kind and metadata. For objects that are too long to be read.
  bool metadata_only = false;
  std::size_t max_bytes = 0;  ///< A longer answer is an error, ResponseTooLong; 0: see
                              ///< http::Request::max_response.
};

/// One page of a list. Items are JSON; apiVersion and kind are usually absent.
struct ListPage {
  std::vector<std::string> items = {};
  std::string resource_version = {};
  std::string continue_token = {};  ///< Empty on the last page.
  std::int64_t remaining = 0;       ///< If the server returned it.
};

struct WatchOptions {
  std::string namespace_name = {};  ///< Empty: all.
  std::string label_selector = {};
  std::string field_selector = {};
  std::string resource_version = {};
  bool allow_bookmarks = true;
  bool send_initial_events = false;    ///< WatchList; adds resourceVersionMatch=NotOlderThan.
  std::int64_t timeout_seconds = 300;  ///< The server ends the watch after this.
  bool for_view = false;               ///< The same as in ListOptions.
};

/// How much of the object the server sends back.
enum class Answer : std::uint8_t {
  kWhole,
  kMetadataOnly,  ///< Name, namespace, uid and resourceVersion: for a pod a tenth of the bytes, and no reading of the
                  ///< rest.
};

enum class PatchType : std::uint8_t { kMerge, kStrategic, kJson, kApply };

struct PatchOptions {
  std::string subresource = {};    ///< "status", "scale"
  bool force = false;              ///< Apply only: take over fields of other managers.
  std::string field_manager = {};  ///< Empty: the client's.
  bool dry_run = false;
  std::string uid = {};  ///< Precondition, merge and strategic merge patches only; Conflict if the object has another.
  std::string resource_version = {};  ///< Precondition of the same patches.
  Answer answer = Answer::kWhole;
  std::function<bool()> may_send = {};  ///< The same as in http::Request.
};

struct CreateOptions {
  std::string field_manager = {};  ///< Empty: the client's.
  bool dry_run = false;
  Answer answer = Answer::kWhole;
  std::chrono::seconds timeout = std::chrono::seconds(0);  ///< After which the server gives up; 0: its default, 60 s.
  std::function<bool()> may_send = {};                     ///< The same as in http::Request.
};

struct DeleteOptions {
  std::string uid = {};                            ///< Precondition; Conflict if the object has another.
  std::string resource_version = {};               ///< Precondition.
  std::optional<std::int64_t> grace_seconds = {};  ///< Absent: the object's own.
  std::string propagation = "Background";          ///< Background, Foreground or Orphan.
  std::function<bool()> may_send = {};             ///< The same as in http::Request.
};

[[nodiscard]] http::Request get_request(const ResourceType& type, const ObjectKey& key,
                                        std::string_view subresource = {});
[[nodiscard]] http::Request list_request(const ResourceType& type, const ListOptions& options);
[[nodiscard]] http::Request watch_request(const ResourceType& type, const WatchOptions& options);
/// `body` is JSON.
[[nodiscard]] http::Request create_request(const ResourceType& type, std::string_view namespace_name, std::string body,
                                           const CreateOptions& options);
/// Errors: InvalidArgument for a precondition on a patch that is not a merge patch, or a merge patch that is not an
/// object.
[[nodiscard]] Result<http::Request> patch_request(const ResourceType& type, const ObjectKey& key, PatchType patch,
                                                  Json body, const PatchOptions& options);
/// PUT. `body` carries its own resourceVersion as precondition.
[[nodiscard]] http::Request replace_request(const ResourceType& type, const ObjectKey& key, const Json& body,
                                            std::string_view subresource, const CreateOptions& options);
[[nodiscard]] http::Request delete_request(const ResourceType& type, const ObjectKey& key,
                                           const DeleteOptions& options);

/// The error in a `Status` object. `fallback_code` is the HTTP status where the object has none.
[[nodiscard]] Error error_from_status(const Json& status, int fallback_code, std::string_view what);
/// The error of a response that is not 2xx; its body may be anything. `what` begins the message: "get pods default/a".
[[nodiscard]] Error error_from_response(const http::Response& response, std::string_view what);

/// True if the server refused a change of the uid, which is immutable: the object is another one.
[[nodiscard]] bool is_other_uid(const Error& error);

/// Name of the service account without which the server refused a pod; empty for other errors. Only the text of the
/// server's admission plugin ServiceAccount names it: error looking up service account a/b: serviceaccount "b" not
/// found.
[[nodiscard]] std::string missing_service_account(const Error& error);

/// True if the server creates nothing in the namespace because it is being deleted.
[[nodiscard]] bool is_namespace_terminating(const Error& error);

/// True if the server has not yet reached the asked resourceVersion: list without one.
[[nodiscard]] bool is_resource_version_too_large(const Error& error);

}  // namespace tpuslice::client

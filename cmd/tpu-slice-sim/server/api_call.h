// ApiCall: one request for a resource, resolved. Shared by the handlers behind ApiServer.
#pragma once

#include <string>
#include <vector>

#include "api/http/server/server.h"
#include "api/http/url.h"
#include "cmd/tpu-slice-sim/registry/registry.h"
#include "cmd/tpu-slice-sim/server/api_server.h"
#include "cmd/tpu-slice-sim/server/media_type.h"
#include "cmd/tpu-slice-sim/server/presenter.h"
#include "cmd/tpu-slice-sim/server/request_info.h"

namespace tpuslice::sim {

struct ApiCall {
  Registry& registry;
  const ApiServerOptions& options;
  const http::Request& request;
  const UserInfo& user;
  RequestInfo info;
  http::QueryParams query;
  ResourcePtr resource;
  Form form = Form::kObject;
  std::vector<std::string> warnings;
  bool repeats = false;  ///< The body has duplicate members; set by body().

  [[nodiscard]] ObjectKey key() const { return {info.namespace_name, info.name}; }
  [[nodiscard]] Presenter presenter() const;
  /// The options of the query: fieldManager, dryRun, fieldValidation. Collects warnings in `warnings`.
  [[nodiscard]] WriteOptions write_options();
  /// The body as JSON; also accepts YAML. Null without a body. Errors: BadRequest, 415.
  [[nodiscard]] Result<Json> body();
  /// An object in the requested form.
  [[nodiscard]] http::Reply reply(int status, const Json& object) const;
};

/// `status` and a JSON body.
[[nodiscard]] http::Reply json_reply(int status, std::string body);

/// The Go package of the resource's types: "core", "apps".
[[nodiscard]] std::string internal_group(const Resource& resource);

/// GET of a collection: a list, or a watch.
[[nodiscard]] Result<http::Reply> handle_list(ApiCall& call);
/// DELETE of a collection.
[[nodiscard]] Result<http::Reply> handle_delete_collection(ApiCall& call);
/// POST to a collection.
[[nodiscard]] Result<http::Reply> handle_create(ApiCall& call);
/// GET, PUT, PATCH and DELETE of one object, or of its status.
[[nodiscard]] Result<http::Reply> handle_object(ApiCall& call);
/// scale, binding, eviction and log.
[[nodiscard]] Result<http::Reply> handle_subresource(ApiCall& call);

/// metav1.DeleteOptions of the body and the query.
[[nodiscard]] Result<DeleteOptions> delete_options(ApiCall& call);

}  // namespace tpuslice::sim

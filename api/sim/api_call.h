// ApiCall: one request for a resource, resolved. Shared by the handlers behind ApiServer.
#pragma once

#include <string>
#include <vector>

#include "api/http/server.h"
#include "api/http/url.h"
#include "api/sim/api_server.h"
#include "api/sim/media_type.h"
#include "api/sim/presenter.h"
#include "api/sim/registry.h"
#include "api/sim/request_info.h"

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
  bool repeats = false;  ///< The body has a member twice; set by body().

  [[nodiscard]] ObjectKey key() const { return {info.namespace_name, info.name}; }
  [[nodiscard]] Presenter presenter() const;
  /// Of the query: fieldManager, dryRun, fieldValidation. Warnings are collected here.
  [[nodiscard]] WriteOptions write_options();
  /// The body as JSON; YAML is read too. Null without a body. Errors: BadRequest, 415.
  [[nodiscard]] Result<Json> body();
  /// An object in the form that was asked for.
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

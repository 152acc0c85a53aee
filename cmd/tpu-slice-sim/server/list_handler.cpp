// GET and DELETE of collections.
#include <fmt/format.h>

#include "cmd/tpu-slice-sim/resources/api_errors.h"
#include "cmd/tpu-slice-sim/resources/conversion.h"
#include "cmd/tpu-slice-sim/server/api_call.h"
#include "cmd/tpu-slice-sim/server/selection.h"
#include "cmd/tpu-slice-sim/server/watch_stream.h"

namespace tpuslice::sim {
namespace {

/// What a list reads.
struct Page {
  Revision revision = 0;
  ObjectKey after;  ///< Empty: from the start.
};

Error too_large(Revision asked, Revision current) {
  Error error = Error::of(ErrorCode::kTimeout, "Timeout: Too large resource version: {}, current: {}", asked, current);
  error.with_reason("Timeout").with_retry_after(std::chrono::seconds(1));
  return error;
}

/// The revision of a list; see "resourceVersion" in the Kubernetes API concepts.
Result<Page> page_of(const ListOptions& options, const Storage& storage) {
  const Revision newest = storage.revision();
  if (!options.continue_token.empty()) {
    ASSIGN_OR_RETURN(const ContinueToken token, ContinueToken::decode(options.continue_token));
    return Page{token.revision < 0 ? newest : static_cast<Revision>(token.revision), token.after};
  }
  const Revision asked = options.revision();
  if (asked > newest) return too_large(asked, newest);
  const bool exact = options.version_match == "Exact" || (options.version_match.empty() && options.limit > 0);
  return Page{asked != 0 && exact ? asked : newest, {}};
}

http::Reply expired_reply(const ListOptions& options, const ObjectKey& after) {
  const bool continues = !options.continue_token.empty();
  const Error error = Error(ErrorCode::kExpired,
                            continues ? "The provided continue parameter is too old to display a consistent list "
                                        "result. You can start a new list without the continue parameter, or use the "
                                        "continue token in this response to retrieve the remainder of the results. "
                                        "Continuing with the provided token results in an inconsistent list - objects "
                                        "that were created, modified, or deleted between the time the first chunk was "
                                        "returned and now may show up in the list."
                                      : "The resourceVersion for the provided list is too old.")
                          .with_reason("Expired");
  Json status = status_json(error);
  if (continues) status["metadata"]["continue"] = ContinueToken{-1, after}.encode();
  return json_reply(410, status.dump());
}

Result<http::Reply> watch(ApiCall& call, ListOptions options, Selection selection) {
  WatchOptions watch;
  watch.list = std::move(options);
  watch.form = call.form;
  watch.row_object = call.presenter().row_object;
  watch.bookmark_every = call.options.bookmark_every;
  watch.default_timeout = call.options.watch_timeout;
  auto stream = std::make_unique<WatchStream>(call.registry, call.resource, std::move(selection), std::move(watch));
  http::Reply reply;
  reply.response.status = 200;
  reply.response.headers = stream->headers();
  reply.stream = std::move(stream);
  return reply;
}

/// In a watch, a name in the path means `?fieldSelector=metadata.name=x`.
Result<Selection> selection_of(const ApiCall& call, const ListOptions& options) {
  return Selection::of(*call.resource, options, call.info.namespace_name);
}

/// Lists of custom resources always have metadata.continue.
Json list_metadata(const ApiCall& call, Revision revision) {
  Json metadata = {{"resourceVersion", std::to_string(revision)}};
  if (call.resource->custom && call.form == Form::kObject) metadata["continue"] = "";
  return metadata;
}

/// Errors: NotAcceptable for a form of single objects only.
Status check_form(const ApiCall& call) {
  if (call.form != Form::kMetadata) return {};
  const Resource& resource = *call.resource;
  const std::string type = resource.custom ? "*unstructured.UnstructuredList"
                                           : fmt::format("*{}.{}", internal_group(resource), resource.list_kind);
  return Error::unsupported("you requested PartialObjectMetadata, but the requested object is a list ({})", type)
      .with_reason("NotAcceptable");
}

}  // namespace

std::string internal_group(const Resource& resource) {
  return resource.group.empty() ? "core" : resource.group.substr(0, resource.group.find('.'));
}

Result<http::Reply> handle_list(ApiCall& call) {
  ASSIGN_OR_RETURN(ListOptions options, parse_list_options(call.query));
  ASSIGN_OR_RETURN(Selection selection, selection_of(call, options));
  if (options.watch) return watch(call, std::move(options), std::move(selection));

  RETURN_IF_ERROR(check_form(call));

  const Storage& storage = call.registry.storage();
  ASSIGN_OR_RETURN(const Page page, page_of(options, storage));
  const auto all = storage.list_at(storage_id(*call.resource), call.info.namespace_name, page.revision);
  if (!all) return expired_reply(options, page.after);

  std::vector<JsonPtr> found;
  Json metadata = list_metadata(call, page.revision);
  auto next = all->begin();
  if (!page.after.name.empty()) {
    next = std::upper_bound(all->begin(), all->end(), page.after,
                            [](const ObjectKey& key, const JsonPtr& object) { return key < key_of(*object); });
  }
  for (; next != all->end(); ++next) {
    const JsonPtr object = to_served(*call.resource, *next);
    if (!selection.matches(key_of(*object), *object)) continue;
    if (options.limit > 0 && found.size() == static_cast<std::size_t>(options.limit)) {
      metadata["continue"] = ContinueToken{static_cast<std::int64_t>(page.revision), key_of(*found.back())}.encode();
      if (selection.everything()) metadata["remainingItemCount"] = std::distance(next, all->end());
      break;
    }
    found.push_back(object);
  }
  return json_reply(200, call.presenter().list(found, metadata));
}

Result<http::Reply> handle_delete_collection(ApiCall& call) {
  ASSIGN_OR_RETURN(const ListOptions options, parse_list_options(call.query));
  ASSIGN_OR_RETURN(const Selection selection, selection_of(call, options));
  ASSIGN_OR_RETURN(DeleteOptions deletion, delete_options(call));
  std::vector<JsonPtr> removed;
  // The response has the objects before the deletion.
  for (const JsonPtr& object : call.registry.list(*call.resource, call.info.namespace_name)) {
    const ObjectKey key = key_of(*object);
    if (!selection.matches(key, *object)) continue;
    deletion.uid = string_at(*object, {"metadata", "uid"});
    Result<Object> last = call.registry.remove(*call.resource, key, deletion);
    if (last) {
      removed.push_back(object);
    } else if (last.error().code() != ErrorCode::kNotFound && last.error().code() != ErrorCode::kConflict) {
      return last.error();
    }
  }
  const Json metadata = list_metadata(call, call.registry.storage().revision());
  return json_reply(200, call.presenter().list(removed, metadata));
}

}  // namespace tpuslice::sim

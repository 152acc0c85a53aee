#include "cmd/kubectl-tpu/ui/page_server.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "api/http/url.h"
#include "api/types/json_text.h"
#include "api/types/utf8.h"
#include "fleet/page/page_files.h"

namespace tpuslice::plugin {
namespace {

constexpr std::size_t kMaxChanges = 50;  ///< Changes of one simulation.

constexpr std::string_view kSession = "session";
constexpr std::string_view kObject = "fleet/v1/object";
constexpr std::string_view kWatch = "fleet/v1/watch";
constexpr std::array<std::string_view, 6> kDataPaths = {"config", "fleet/v1/snapshot", kWatch, "fleet/v1/history",
                                                        kObject,  "fleet/v1/what-if"};

http::Response json_response(const Json& json) {
  return {200, {{"Content-Type", "application/json"}}, print_json(json)};
}

http::Response json_or_problem(const Result<Json>& json) {
  return json ? json_response(*json) : page_text(502, clip(json.error().message(), kMaxProblem));
}

http::Response wrong_page_method(std::string allowed) {
  http::Response response = page_text(405, "methods are " + allowed);
  response.headers.emplace_back("Allow", std::move(allowed));
  return response;
}

http::ServerOptions server_options(std::uint16_t port) {
  http::ServerOptions options;
  options.address = fmt::format("127.0.0.1:{}", port);
  options.threads = 4;  // One may wait for the cluster.
  options.header_limit = 8U << 10U;
  options.body_limit = 1024;
  options.max_connections = 64;
  options.max_connections_per_peer = 64;
  options.max_streams = 16;
  options.read_timeout = std::chrono::seconds(5);
  options.write_timeout = std::chrono::seconds(10);
  options.drain = std::chrono::seconds(1);
  return options;
}

}  // namespace

PageHandler::PageHandler(PageSource source, const PageServerOptions& options, PageSecrets secrets, const Clock& clock)
    : source_(std::move(source)),
      command_(options.command),
      secrets_(std::move(secrets)),
      feed_(std::make_shared<FleetFeed>(source_.fleet, options.interval, clock)) {}

http::Reply PageHandler::answer(const http::Request& request, std::uint16_t port) const {
  std::string_view path = http::split_target(request.target).path;
  const std::string prefix = "/" + secrets_.path + "/";
  http::Reply reply;
  if (auto refusal = refuse_foreign(request, port, false)) {
    reply.response = *std::move(refusal);
  } else if (path.size() < prefix.size() || !equal_secrets(path.substr(0, prefix.size()), prefix)) {
    reply.response = page_text(404, "open the address that the program printed");
  } else {
    path.remove_prefix(prefix.size());
    reply = answer_path(request, path, port);
  }
  add_page_headers(reply.response);
  return reply;
}

http::Reply PageHandler::answer_path(const http::Request& request, std::string_view path, std::uint16_t port) const {
  http::Reply reply;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const bool asks_data = path == kSession || std::ranges::find(kDataPaths, path) != kDataPaths.end();
  if (asks_data) {
    if (auto refusal = refuse_foreign(request, port, true)) {
      reply.response = *std::move(refusal);
    } else if (path == kSession) {
      reply.response = request.method == "POST" ? begin_session(request) : wrong_page_method("POST");
    } else if (!reads) {
      reply.response = wrong_page_method("GET, HEAD");
    } else if (!has_session(request, secrets_)) {
      reply.response = page_text(401, "no session");
    } else if (path == kWatch && request.method == "GET") {
      reply.response = {200, {{"Content-Type", "text/event-stream"}}, ""};
      reply.stream = std::make_unique<FleetStream>(feed_);
    } else {
      reply.response = data(request, path);
    }
    return reply;
  }
  const fleet::PageFile* const file = fleet::find_page_file(path.empty() ? "index.html" : path);
  if (!file) {
    reply.response = page_text(404, "no such file");
  } else if (!reads) {
    reply.response = wrong_page_method("GET, HEAD");
  } else {
    reply.response = {
        200, {{"Content-Type", std::string(fleet::content_type_of(file->name))}}, std::string(file->text)};
  }
  return reply;
}

http::Response PageHandler::begin_session(const http::Request& request) const {
  if (!equal_secrets(request.body, secrets_.token)) return page_text(401, "the token is not valid");
  return {204, {{"Set-Cookie", session_cookie(secrets_)}}, ""};
}

http::Response PageHandler::data(const http::Request& request, std::string_view path) const {
  if (path == "config") {
    return json_response(Json{{"live", source_.live},
                              {"history", source_.history != nullptr},
                              {"whatIf", source_.what_if != nullptr},
                              {"object", source_.object != nullptr},
                              {"command", command_}});
  }
  if (path == "fleet/v1/snapshot") {
    const auto reading = feed_->latest();
    if (!reading->fleet) return page_text(502, reading->problem);
    return json_response(*reading->fleet);
  }
  if (path == "fleet/v1/history" && source_.history) return json_or_problem(source_.history());
  if (path == "fleet/v1/what-if" && source_.what_if) {
    const http::QueryParams changes = http::parse_query(request.target);
    if (changes.all().size() > kMaxChanges) return page_text(400, fmt::format("at most {} changes", kMaxChanges));
    return json_or_problem(source_.what_if(changes.all()));
  }
  if (path == kObject && source_.object) {
    const http::QueryParams query = http::parse_query(request.target);
    const ObjectKey key{query.get("namespace"), query.get("name")};
    if (key.namespace_name.empty() || key.name.empty()) return page_text(400, "namespace and name are required");
    return json_or_problem(source_.object(query.get("kind"), key));
  }
  return page_text(404, "not known here");
}

Result<std::unique_ptr<PageServer>> PageServer::start(PageSource source, const PageServerOptions& options,
                                                      const Clock& clock) {
  ASSIGN_OR_RETURN(const PageSecrets secrets, make_page_secrets());
  std::unique_ptr<PageServer> page(new PageServer(std::move(source), options, secrets, clock));
  ASSIGN_OR_RETURN(page->server_,
                   http::Server::start(server_options(options.port), clock,
                                       [self = page.get()](const http::Request& request, const http::Peer&) {
                                         return self->handler_.answer(request, self->port_);
                                       }));
  page->port_ = page->server_->port();  // Until here all requests are refused: their Host names another port.
  return page;
}

}  // namespace tpuslice::plugin

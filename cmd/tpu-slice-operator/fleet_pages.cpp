#include "cmd/tpu-slice-operator/fleet_pages.h"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "api/http/server/gzip.h"
#include "api/http/url.h"
#include "api/types/utf8.h"
#include "cmd/tpu-slice-operator/fleet_stream.h"
#include "fleet/fleet_json.h"
#include "fleet/redaction.h"

namespace tpuslice {
namespace {

static_assert(std::cmp_equal(ResourceAccessOptions().max_in_flight, kPageThreads), "reviews take other threads");

constexpr std::string_view kHistorySchema = "tpuslice.dev/history.v1";
/// Snapshots that are kept until the fleet is read again.
constexpr std::size_t kMaxTexts = 4;
/// Shorter answers are not compressed.
constexpr std::size_t kMinCompressed = 1024;

http::Reply error_reply(const Error& error) {
  http::Reply reply;
  reply.response.status = error.code() == ErrorCode::kInvalidArgument ? 400 : 503;
  reply.response.headers.emplace_back("Content-Type", "text/plain; charset=utf-8");
  if (reply.response.status == 503) reply.response.headers.emplace_back("Retry-After", "5");
  reply.response.body = error.message() + "\n";
  return reply;
}

/// Texts of users are UTF-8 in the stores; a snapshot must not fail for one that is not.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

bool FleetRights::may_read(const std::string& namespace_name) const {
  return all_namespaces || std::ranges::binary_search(namespaces, namespace_name);
}

Result<FleetQuery> parse_fleet_query(std::string_view target) {
  FleetQuery out;
  const http::QueryParams parameters = http::parse_query(target);
  for (const auto& [name, value] : parameters.all()) {
    if (name == "namespace") {
      out.namespaces.push_back(value);
    } else if (name != "nodes") {
      return Error::invalid_argument("unknown parameter \"{}\"; known are namespace and nodes",
                                     truncate_utf8(name, 64));
    }
  }
  if (out.namespaces.size() > FleetQuery::kMaxNamespaces) {
    return Error::invalid_argument("namespace: found {}, at most {} are possible", out.namespaces.size(),
                                   FleetQuery::kMaxNamespaces);
  }
  out.nodes = parameters.flag("nodes");
  return out;
}

FleetPages::FleetPages(Take take, ResourceAccess& access, const Clock& clock, FleetPagesOptions options)
    : take_(std::move(take)), access_(access), clock_(clock), options_(options), due_(Instant::min()) {}

std::map<std::string, DebugPage, std::less<>> FleetPages::pages() {
  const auto page = [this](Answer answer) {
    DebugPage out;
    out.reply = [this, answer](const http::Request& request, const Json& user) { return reply(request, user, answer); };
    return out;
  };
  DebugPage stream;
  stream.reply = [this](const http::Request& request, const Json& user) { return watch(request, user); };
  return {{"/fleet/v1/snapshot", page(&FleetPages::snapshot)},
          {"/fleet/v1/history", page(&FleetPages::history)},
          {"/fleet/v1/watch", std::move(stream)}};
}

http::Reply FleetPages::reply(const http::Request& request, const Json& user, Answer answer) {
  const Result<FleetQuery> query = parse_fleet_query(request.target);
  if (!query) return error_reply(query.error());
  const Result<FleetRights> rights = rights_of(user, *query);
  if (!rights) return error_reply(rights.error());
  Result<std::string> text = (this->*answer)(*query, *rights);
  if (!text) return error_reply(text.error());
  http::Reply out;
  out.response = {200, {{"Content-Type", "application/json"}, {"Vary", "Accept-Encoding"}}, *std::move(text)};
  if (out.response.body.size() < kMinCompressed || !http::accepts_gzip(request.headers)) return out;
  out.response.body = http::gzip(out.response.body);
  out.response.headers.emplace_back("Content-Encoding", "gzip");
  return out;
}

http::Reply FleetPages::watch(const http::Request& request, const Json& user) {
  const Result<FleetQuery> query = parse_fleet_query(request.target);
  if (!query) return error_reply(query.error());
  const Result<FleetRights> rights = rights_of(user, *query);
  if (!rights) return error_reply(rights.error());
  http::Reply out;
  out.response = {200, {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}}, {}};
  out.stream = std::make_unique<FleetStream>(
      [this, query = *query, rights = *rights] { return snapshot(query, rights); }, clock_,
      FleetStreamOptions{options_.interval, options_.heartbeat, options_.max_stream});
  return out;
}

Result<FleetRights> FleetPages::rights_of(const Json& user, const FleetQuery& query) {
  FleetRights out;
  ASSIGN_OR_RETURN(out.nodes, access_.may_list(user, {"", "nodes", ""}));
  ASSIGN_OR_RETURN(out.all_namespaces, access_.may_list(user, {"", "pods", ""}));
  if (out.all_namespaces) return out;
  for (const std::string& each : query.namespaces) {
    if (each.empty()) continue;
    ASSIGN_OR_RETURN(const bool may_list, access_.may_list(user, {"", "pods", each}));
    if (may_list) out.namespaces.push_back(each);
  }
  std::ranges::sort(out.namespaces);
  return out;
}

std::optional<Result<std::string>> FleetPages::known_text(const std::shared_ptr<const Model>& model,
                                                          const std::string& key) const {
  const MutexLock lock(mutex_);
  const auto known = texts_.find(key);
  if (model != model_ || known == texts_.end()) return std::nullopt;
  return known->second;
}

std::size_t FleetPages::written() const {
  const MutexLock lock(mutex_);
  return written_;
}

Result<std::string> FleetPages::snapshot(const FleetQuery& query, const FleetRights& rights) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const Model> model, this->model());
  const std::string key =
      fmt::format("{} {} {} {}", rights.all_namespaces, rights.nodes, query.nodes, fmt::join(rights.namespaces, " "));
  if (auto known = known_text(model, key)) return *std::move(known);
  const MutexLock writing(writing_);
  if (auto known = known_text(model, key)) return *std::move(known);
  Result<std::string> text = write(*model, query, rights);
  const MutexLock lock(mutex_);
  ++written_;
  if (model == model_ && texts_.size() < kMaxTexts) texts_.emplace(key, text);
  return text;
}

Result<std::string> FleetPages::write(const Model& model, const FleetQuery& query, const FleetRights& rights) const {
  const auto may_read = [&](const std::string& name) { return rights.may_read(name); };
  const fleet::Fleet fleet = fleet::redacted(model.fleet, may_read, rights.nodes);
  std::string text = text_of(fleet::write_fleet(fleet, {.nodes = query.nodes}));
  if (text.size() > options_.max_bytes && query.nodes) text = text_of(fleet::write_fleet(fleet, {.nodes = false}));
  if (text.size() <= options_.max_bytes) return text;
  return Error::unavailable("the fleet takes {} bytes, more than {}: read it from the API server", text.size(),
                            options_.max_bytes);
}

Result<std::string> FleetPages::history(const FleetQuery& /*query*/, const FleetRights& rights) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const Model> model, this->model());
  const auto may_read = [&](const std::string& name) { return rights.may_read(name); };
  Json records = Json::array();
  for (fleet::HistoryRecord& record : fleet::redacted(model->history, may_read)) {
    if (!rights.nodes) record.node.clear();
    records.push_back(fleet::write_history_record(record));
  }
  return text_of({{"schema", kHistorySchema}, {"records", std::move(records)}});
}

class FleetPages::Reading {
 public:
  explicit Reading(FleetPages& owner) : owner_(owner) {}
  ~Reading() {
    {
      const MutexLock lock(owner_.mutex_);
      owner_.reading_ = false;
    }
    owner_.read_.notify_all();
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

 private:
  FleetPages& owner_;
};

Result<std::shared_ptr<const FleetPages::Model>> FleetPages::model() {
  {
    const MutexLock lock(mutex_);
    read_.wait(mutex_, [this]() TPUSLICE_REQUIRES(mutex_) { return model_ != nullptr || !reading_; });
    if (model_ != nullptr && (reading_ || clock_.now() < due_)) return model_;
    reading_ = true;
  }
  const Reading reading(*this);
  const Instant begin = clock_.now();
  ASSIGN_OR_RETURN(fleet::Snapshot snapshot, take_());
  auto model = std::make_shared<Model>();
  model->fleet = fleet::build_fleet(snapshot);
  model->history = std::move(snapshot.history);
  const Instant end = clock_.now();
  const MutexLock lock(mutex_);
  model_ = std::move(model);
  texts_.clear();
  due_ = end + std::max(options_.interval, options_.pace * (end - begin));
  return model_;
}

}  // namespace tpuslice

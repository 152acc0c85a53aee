#include "cmd/tpu-slice-sim/cluster/fault_transport.h"

#include <deque>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "api/types/json.h"

namespace tpuslice::sim {

namespace {

std::vector<std::string_view> segments(std::string_view target) {
  std::vector<std::string_view> out;
  target = target.substr(0, target.find('?'));
  while (!target.empty()) {
    const std::size_t slash = target.find('/');
    const std::string_view part = target.substr(0, slash);
    if (!part.empty()) out.push_back(part);
    target = slash == std::string_view::npos ? std::string_view() : target.substr(slash + 1);
  }
  return out;
}

bool is_watch(const http::Request& request) {
  return request.target.find("watch=true") != std::string::npos || request.target.find("watch=1") != std::string::npos;
}

/// Only a watch with a resourceVersion can get 410.
bool resumes(const http::Request& request) {
  return request.target.find("?resourceVersion=") != std::string::npos ||
         request.target.find("&resourceVersion=") != std::string::npos;
}

struct Parsed {
  std::string verb;
  std::string resource;  ///< With "/status" for the subresource.
};

Parsed parse(const http::Request& request) {
  std::vector<std::string_view> parts = segments(request.target);
  std::string group;
  std::size_t at = 0;
  if (parts.size() >= 2 && parts[0] == "api") {
    at = 2;
  } else if (parts.size() >= 3 && parts[0] == "apis") {
    group = parts[1];
    at = 3;
  } else {
    return {"get", request.target};
  }
  // "namespaces/<name>/<resource>" is a namespaced resource; "namespaces/<name>" the namespace itself.
  if (parts.size() > at + 2 && parts[at] == "namespaces" && parts[at + 2] != "status" && parts[at + 2] != "finalize") {
    at += 2;
  }
  if (at >= parts.size()) return {"get", request.target};
  Parsed out;
  out.resource = std::string(parts[at]) + (group.empty() ? "" : "." + group);
  const bool named = parts.size() > at + 1;
  if (parts.size() > at + 2) out.resource += "/" + std::string(parts[at + 2]);
  if (request.method == "POST") out.verb = "create";
  if (request.method == "PUT") out.verb = "update";
  if (request.method == "PATCH") out.verb = "patch";
  if (request.method == "DELETE") out.verb = "delete";
  if (request.method == "GET") out.verb = is_watch(request) ? "watch" : named ? "get" : "list";
  return out;
}

bool hits(int every, std::int64_t count) { return every > 0 && count % every == 0; }

http::Response status_response(int code, const char* reason, const char* message) {
  const Json body = {{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", Json::object()},
                     {"status", "Failure"}, {"message", message}, {"reason", reason},
                     {"code", code}};
  http::Response response{code, {{"Content-Type", "application/json"}}, body.dump()};
  if (code == 429) response.headers.emplace_back("Retry-After", "1");
  return response;
}

Error broken(const char* why) { return Error::unavailable("connection lost: {}", why); }

/// A stream that breaks or is delayed.
class FaultStream final : public http::Stream {
 public:
  FaultStream(std::unique_ptr<http::Stream> inner, std::shared_ptr<FaultTransport::State> state, const Clock& clock,
              int cut_every, Duration delay)
      : inner_(std::move(inner)), state_(std::move(state)), clock_(clock), cut_every_(cut_every), delay_(delay) {}

  [[nodiscard]] int status() const override { return inner_->status(); }
  [[nodiscard]] const http::Headers& headers() const override { return inner_->headers(); }

  Result<std::string> read(Duration wait, std::stop_token stop) override {
    if (state_->dead.load()) return broken("the client is dead");
    if (cut_) return broken("the stream was cut");
    Result<std::string> data = inner_->read(wait, stop);
    if (data && data->empty() && delayed_.empty()) return data;
    if (delay_ > Duration{}) return read_late(std::move(data));
    if (!data) return data;
    cut_ = hits(cut_every_, ++state_->watch_reads);
    return data;
  }

 private:
  struct Late {
    Instant due;
    Result<std::string> data;
  };

  Result<std::string> read_late(Result<std::string> data) {
    if (!data || !data->empty()) delayed_.push_back({clock_.now() + delay_, std::move(data)});
    if (delayed_.empty() || delayed_.front().due > clock_.now()) return std::string();
    Result<std::string> due = std::move(delayed_.front().data);
    delayed_.pop_front();
    return due;
  }

  const std::unique_ptr<http::Stream> inner_;
  const std::shared_ptr<FaultTransport::State> state_;
  const Clock& clock_;
  const int cut_every_;
  const Duration delay_;
  bool cut_ = false;
  std::deque<Late> delayed_;
};

/// The body of an injected response.
class AnswerStream final : public http::Stream {
 public:
  explicit AnswerStream(http::Response response) : response_(std::move(response)) {}
  [[nodiscard]] int status() const override { return response_.status; }
  [[nodiscard]] const http::Headers& headers() const override { return response_.headers; }
  Result<std::string> read(Duration /*wait*/, std::stop_token /*stop*/) override {
    if (response_.body.empty()) return http::end_of_stream();
    return std::exchange(response_.body, {});
  }

 private:
  http::Response response_;
};

}  // namespace

std::string describe_request(const http::Request& request) {
  const Parsed parsed = parse(request);
  return parsed.verb + " " + parsed.resource;
}

FaultTransport::FaultTransport(http::Transport& inner, const Clock& clock, Faults faults)
    : inner_(inner), clock_(clock), faults_(std::move(faults)) {}

void FaultTransport::set_faults(Faults faults) {
  const MutexLock lock(mutex_);
  faults_ = std::move(faults);
}

std::map<std::string, std::int64_t> FaultTransport::counts() const {
  const MutexLock lock(mutex_);
  return counts_;
}

std::int64_t FaultTransport::writes() const {
  const MutexLock lock(mutex_);
  return writes_;
}

FaultTransport::Verdict FaultTransport::judge(const http::Request& request, bool watch) {
  const Parsed parsed = parse(request);
  const MutexLock lock(mutex_);
  ++counts_[parsed.verb + " " + parsed.resource];
  if (parsed.resource == "leases.coordination.k8s.io") return Verdict::kPass;
  const bool write = request.method != "GET" && parsed.verb != "get";
  if (write) ++writes_;
  if (write && faults_.die_at_write > 0 && writes_ >= faults_.die_at_write) {
    return faults_.die_before_server ? Verdict::kDieBefore : Verdict::kDieAfter;
  }
  if (faults_.only && !faults_.only(request)) return Verdict::kPass;
  ++requests_;
  if (hits(faults_.unreachable_every, requests_)) return Verdict::kUnreachable;
  if (hits(faults_.too_many_every, requests_)) return Verdict::kTooMany;
  if (hits(faults_.error_every, requests_)) return Verdict::kError;
  if (watch && resumes(request) && hits(faults_.gone_every, ++watches_)) return Verdict::kGone;
  return write ? judge_write(parsed.verb) : Verdict::kPass;
}

FaultTransport::Verdict FaultTransport::judge_write(const std::string& verb) {
  if (verb != "create" && hits(faults_.conflict_every, ++changes_)) return Verdict::kConflict;
  return hits(faults_.drop_reply_every, writes_) ? Verdict::kDropReply : Verdict::kPass;
}

Result<http::Response> FaultTransport::call(const http::Request& request, Duration deadline, std::stop_token stop) {
  if (dead()) return broken("the client is dead");
  switch (judge(request, false)) {
    case Verdict::kPass:
      return inner_.call(request, deadline, stop);
    case Verdict::kUnreachable:
      return broken("never reached the server");
    case Verdict::kDieBefore:
      die();
      return broken("the client died before its write");
    case Verdict::kDieAfter: {
      die();
      const auto lost = inner_.call(request, deadline, stop);
      return broken(lost ? "the client died after its write" : "the client died");
    }
    case Verdict::kDropReply: {
      const auto lost = inner_.call(request, deadline, stop);
      return broken(lost ? "the reply was lost" : "the request was lost");
    }
    case Verdict::kConflict:
      return status_response(409, "Conflict",
                             "the object has been modified; please apply your changes to the latest "
                             "version and try again");
    case Verdict::kTooMany:
      return status_response(429, "TooManyRequests", "too many requests, please try again later");
    case Verdict::kError:
      return status_response(500, "InternalError", "an error on the server");
    case Verdict::kGone:
      return status_response(410, "Expired", "too old resource version");
  }
  return broken("unreachable");
}

Result<std::unique_ptr<http::Stream>> FaultTransport::open(const http::Request& request, Duration deadline,
                                                           std::stop_token stop) {
  if (dead()) return broken("the client is dead");
  const auto answer = [](http::Response response) -> Result<std::unique_ptr<http::Stream>> {
    return std::unique_ptr<http::Stream>(std::make_unique<AnswerStream>(std::move(response)));
  };
  switch (judge(request, true)) {
    case Verdict::kGone:
      return answer(status_response(410, "Expired", "too old resource version"));
    case Verdict::kTooMany:
      return answer(status_response(429, "TooManyRequests", "too many requests, please try again later"));
    case Verdict::kError:
      return answer(status_response(500, "InternalError", "an error on the server"));
    case Verdict::kUnreachable:
      return broken("never reached the server");
    default:
      break;
  }
  ASSIGN_OR_RETURN(std::unique_ptr<http::Stream> inner, inner_.open(request, deadline, stop));
  int cut_every = 0;
  Duration delay{};
  {
    const MutexLock lock(mutex_);
    cut_every = faults_.cut_watch_every;
    delay = faults_.delay_watch;
  }
  return std::unique_ptr<http::Stream>(
      std::make_unique<FaultStream>(std::move(inner), state_, clock_, cut_every, delay));
}

}  // namespace tpuslice::sim

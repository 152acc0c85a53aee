#include "cmd/kubectl-tpu/pod_logs.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/client/requests.h"
#include "api/http/url.h"
#include "cmd/kubectl-tpu/hosts.h"
#include "cmd/kubectl-tpu/workload_pods.h"

namespace tpuslice::plugin {
namespace {

constexpr Duration kOpenDeadline = std::chrono::seconds(30);
constexpr Duration kReadWait = std::chrono::seconds(5);
constexpr std::size_t kMaxErrorBody = 64U << 10U;

/// The error of an answer that is not 2xx, whose body is `stream`.
Error error_of(http::Stream& stream, const std::string& what, const std::stop_token& stop) {
  http::Response response{.status = stream.status(), .headers = stream.headers(), .body = {}};
  while (response.body.size() < kMaxErrorBody) {
    const Result<std::string> part = stream.read(kReadWait, stop);
    if (!part || part->empty()) break;
    response.body += *part;
  }
  return client::error_from_response(response, what);
}

}  // namespace

std::string container_of(const Object& pod, const LogOptions& options) {
  if (!options.container.empty()) return options.container;
  const auto with_tpus = tpu_containers_of(pod.json());
  if (!with_tpus.empty()) return string_at(*with_tpus.front(), {"name"});
  const Json& containers = array_at(pod.json(), {"spec", "containers"});
  return containers.empty() ? std::string() : string_at(containers.front(), {"name"});
}

http::Request log_request(const Object& pod, const LogOptions& options) {
  http::QueryParams query;
  query.add("container", container_of(pod, options));
  if (options.follow) query.add("follow", "true");
  if (options.previous) query.add("previous", "true");
  if (options.tail >= 0) query.add("tailLines", std::to_string(options.tail));
  if (options.since > 0) query.add("sinceSeconds", std::to_string(options.since));
  if (options.timestamps) query.add("timestamps", "true");
  http::Request request;
  request.target = kPods.path(pod.namespace_name(), pod.name(), "log") + "?" + query.encode();
  return request;
}

void LineSplitter::add(std::string_view bytes, const Take& take) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::size_t room = kMaxLogLine - begun_.size();
    const std::size_t size = std::min({end == std::string_view::npos ? bytes.size() : end, room});
    begun_ += bytes.substr(0, size);
    bytes.remove_prefix(size);
    const bool ended = !bytes.empty() && bytes.front() == '\n';
    if (!ended && begun_.size() < kMaxLogLine) return;
    take(begun_);
    begun_.clear();
    if (ended) bytes.remove_prefix(1);
  }
}

void LineSplitter::finish(const Take& take) {
  if (!begun_.empty()) take(begun_);
  begun_.clear();
}

Status read_log(http::Transport& streams, const Object& pod, const LogOptions& options, const LineSplitter::Take& take,
                const std::stop_token& stop) {
  const std::string what = "get the log of pod " + pod.key().to_string();
  ASSIGN_OR_RETURN(const std::unique_ptr<http::Stream> stream,
                   streams.open(log_request(pod, options), kOpenDeadline, stop));
  if (stream->status() / 100 != 2) return error_of(*stream, what, stop);
  LineSplitter lines;
  while (true) {
    const Result<std::string> part = stream->read(kReadWait, stop);
    if (part) {
      lines.add(*part, take);
      continue;
    }
    lines.finish(take);
    if (http::is_end_of_stream(part.error()) || stop.stop_requested()) return {};
    return part.error().within(what);
  }
}

std::vector<Object> first_failed_first(std::vector<Object> pods) {
  std::ranges::stable_sort(pods, {}, [](const Object& pod) { return failed_at(pod).value_or(Timestamp::max()); });
  return pods;
}

}  // namespace tpuslice::plugin

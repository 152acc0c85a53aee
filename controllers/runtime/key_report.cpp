#include "controllers/runtime/key_report.h"

#include <chrono>
#include <utility>

#include "api/base/strings.h"
#include "api/http/url.h"
#include "api/types/json.h"
#include "api/types/utf8.h"

namespace tpuslice::runtime {
namespace {

constexpr std::size_t kMaxKeys = 1000;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

Json queue_to_json(const QueuedKey& queue) {
  Json out;
  switch (queue.state) {
    case QueuedKey::State::kIdle:
      out["state"] = "idle";
      break;
    case QueuedKey::State::kQueued:
      out["state"] = "queued";
      out["forSeconds"] = seconds(queue.time);
      break;
    case QueuedKey::State::kRunning:
      out["state"] = "running";
      out["forSeconds"] = seconds(queue.time);
      break;
    case QueuedKey::State::kScheduled:
      out["state"] = "scheduled";
      out["inSeconds"] = seconds(queue.time);
      break;
  }
  if (queue.retries > 0) out["retries"] = queue.retries;
  return out;
}

Json report_to_json(const KeyReport& report) {
  Json out;
  out["controller"] = report.controller;
  if (!report.key.namespace_name.empty()) out["namespace"] = report.key.namespace_name;
  out["name"] = report.key.name;
  out["queue"] = queue_to_json(report.queue);
  if (report.unseen_writes > 0) out["writesNotSeen"] = report.unseen_writes;
  if (report.last_plan) {
    Json& plan = out["lastPlan"];
    plan["time"] = format_rfc3339(report.last_plan->time);
    if (!report.last_plan->reason.empty()) plan["reason"] = report.last_plan->reason;
    if (report.last_plan->writes > 0) plan["writes"] = report.last_plan->writes;
    if (!report.last_plan->error.empty()) plan["error"] = report.last_plan->error;
  }
  return out;
}

}  // namespace

Result<KeyQuery> parse_key_query(std::string_view target) {
  KeyQuery out;
  const http::QueryParams parameters = http::parse_query(target);
  for (const auto& [name, value] : parameters.all()) {
    if (name == "controller") {
      out.controller = value;
    } else if (name == "namespace") {
      out.namespace_name = value;
    } else if (name == "name") {
      out.name = value;
    } else if (name == "limit") {
      const auto limit = parse_integer<std::size_t>(value);
      if (!limit || *limit == 0 || *limit > kMaxKeys) {
        return Error::invalid_argument("limit: Invalid value: \"{}\": must be a number from 1 to {}",
                                       truncate_utf8(value, 64), kMaxKeys);
      }
      out.limit = *limit;
    } else {
      return Error::invalid_argument("unknown parameter \"{}\"; known are controller, namespace, name and limit",
                                     truncate_utf8(name, 64));
    }
  }
  return out;
}

std::string to_json(const std::vector<KeyReport>& reports) {
  Json keys = Json::array();
  for (const KeyReport& report : reports) keys.push_back(report_to_json(report));
  const Json out{{"keys", std::move(keys)}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tpuslice::runtime

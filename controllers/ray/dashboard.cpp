#include "controllers/ray/dashboard.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/base/hash.h"
#include "api/base/percent.h"
#include "api/base/strings.h"
#include "api/types/utf8.h"
#include "controllers/raycluster/children/services.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::ray {
namespace {

/// Bytes of all messages that are kept of one answer.
constexpr std::size_t kMaxMessages = 64U << 10U;

/// Limits of a response body. One application takes a few hundred values.
constexpr JsonLimits kAnswerLimits{.bytes = 1U << 20U, .values = 50'000, .depth = 32};

plan::WorkloadRequest request(const Dashboard& dashboard, std::string name, std::string method, std::string target) {
  plan::WorkloadRequest out;
  out.name = std::move(name);
  out.method = std::move(method);
  out.address = dashboard.address;
  out.host = dashboard.host;
  out.target = std::move(target);
  out.token = dashboard.token;
  return out;
}

Json parse(const std::string& body) {
  Result<Json> parsed = parse_json(body, kAnswerLimits);
  return parsed && parsed->is_object() ? *std::move(parsed) : Json();
}

std::string text_at(const Json& json, std::string_view member, std::size_t limit) {
  return clip(string_at(json, {member}), limit);
}

/// What is kept of an answer that is not 200: {"text"}.
Json keep_text(const std::string& body) {
  if (!is_utf8(body)) return Json::object();
  return {{"text", clip(trimmed(std::string_view(body).substr(0, 4 * kMaxMessage)), kMaxMessage)}};
}

Json read_text(int /*status*/, const std::string& body) { return keep_text(body); }

Json read_job(int status, const std::string& body) {
  if (status != 200) return keep_text(body);
  const Json job = parse(body);
  if (!job.is_object()) return {};
  Json out = {{"status", text_at(job, "status", kMaxName)}, {"message", text_at(job, "message", kMaxMessage)}};
  for (const char* time : {"start_time", "end_time"}) {
    if (const std::int64_t value = int_at(job, {time}); value > 0) out[time] = value;
  }
  return out;
}

/// The message of an application or deployment, of at most `left` bytes, which are reduced by its size: messages are
/// stored in the status of the RayService.
Json message_at(const Json& json, std::size_t& left) {
  std::string message = text_at(json, "message", std::min(kMaxMessage, left));
  left -= std::min(left, message.size());
  return message;
}

Json read_deployments(const Json& application, std::size_t& left) {
  Json out = Json::object();
  const Json* deployments = find_set(application, {"deployments"});
  if (deployments == nullptr || !deployments->is_object()) return out;
  for (const auto& [name, deployment] : deployments->items()) {
    if (out.size() == kMaxDeployments) break;
    out[clip(name, kMaxName)] = {{"status", text_at(deployment, "status", kMaxName)},
                                 {"message", message_at(deployment, left)}};
  }
  return out;
}

Json read_proxies(const Json& serve) {
  std::vector<std::string> addresses;
  const Json* proxies = find_set(serve, {"proxies"});
  if (proxies == nullptr || !proxies->is_object()) return Json::array();
  for (const auto& [node, proxy] : proxies->items()) {
    if (addresses.size() == kMaxProxies) break;
    if (string_at(proxy, {"status"}) == "HEALTHY") addresses.push_back(text_at(proxy, "node_ip", kMaxName));
  }
  std::ranges::sort(addresses);
  return addresses;
}

Json read_applications(int status, const std::string& body) {
  if (status != 200) return keep_text(body);
  const Json serve = parse(body);
  if (!serve.is_object()) return {};
  Json applications = Json::object();
  std::size_t left = kMaxMessages;
  if (const Json* found = find_set(serve, {"applications"}); found != nullptr && found->is_object()) {
    for (const auto& [name, application] : found->items()) {
      if (applications.size() == kMaxApplications) break;
      Json& kept = applications[clip(name, kMaxName)];
      kept = {{"status", text_at(application, "status", kMaxName)},
              {"message", message_at(application, left)},
              {"deployments", read_deployments(application, left)}};
      const Json* config = find_set(application, {"deployed_app_config"});
      if (config != nullptr && config->is_object()) kept["config"] = application_hash(*config);
    }
  }
  return {{"applications", std::move(applications)}, {"proxies", read_proxies(serve)}};
}

/// Numbers as floating point, without members that are null. Depth is limited where the JSON is parsed.
Json normalized(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_array()) {
    Json out = Json::array();
    for (const Json& each : json) out.push_back(normalized(each));
    return out;
  }
  if (!json.is_object()) return json;
  Json out = Json::object();
  for (const auto& [name, value] : json.items()) {
    if (!value.is_null()) out[name] = normalized(value);
  }
  return out;
}

std::optional<std::int64_t> time_at(const Json& job, std::string_view member) {
  const std::int64_t value = int_at(job, {member});
  return value > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

std::int64_t dashboard_port(const raycluster::RayClusterSpec& cluster) {
  const auto ports = raycluster::head_ports(cluster);
  const auto found = ports.find("dashboard");
  return found == ports.end() ? raycluster::kDashboardPort : found->second;
}

std::optional<Dashboard> dashboard_of(const raycluster::RayClusterSpec& cluster, const PodView& head,
                                      std::string_view cluster_domain) {
  if (head.pod_ip.empty()) return std::nullopt;
  const bool ipv6 = head.pod_ip.find(':') != std::string::npos;
  Dashboard out;
  out.address = fmt::format("{}{}{}:{}", ipv6 ? "[" : "", head.pod_ip, ipv6 ? "]" : "", dashboard_port(cluster));
  out.host = raycluster::head_service_fqdn(cluster, cluster_domain);
  if (cluster.auth.token && !cluster.auth.service_accounts) {
    out.token = {cluster.auth.secret.empty() ? raycluster::auth_secret_name(cluster) : cluster.auth.secret,
                 "auth_token"};
  }
  return out;
}

std::string dashboard_host_port(const raycluster::RayClusterSpec& cluster, std::string_view cluster_domain) {
  return fmt::format("{}:{}", raycluster::head_service_fqdn(cluster, cluster_domain), dashboard_port(cluster));
}

bool is_terminal(std::string_view job_status) {
  return job_status == kStopped || job_status == kSucceeded || job_status == kFailed;
}

plan::WorkloadRequest get_job(const Dashboard& dashboard, std::string_view id, Duration interval) {
  plan::WorkloadRequest out = request(dashboard, "job", "GET", "/api/jobs/" + percent_encode(id));
  out.interval = interval;
  out.read = read_job;
  return out;
}

std::optional<JobInfo> job_info(const plan::WorkloadAnswer& answer) {
  if (answer.status != 200 || !answer.content.is_object()) return std::nullopt;
  constexpr std::array kStatuses{kPending, kRunning, kStopped, kSucceeded, kFailed};
  const Json& job = answer.content;
  std::string status = string_at(job, {"status"});
  if (std::ranges::find(kStatuses, status) == kStatuses.end()) status.clear();
  return JobInfo{std::move(status), string_at(job, {"message"}), time_at(job, "start_time"), time_at(job, "end_time")};
}

plan::WorkloadRequest submit_job(const Dashboard& dashboard, const Json& submission, std::int64_t attempt) {
  plan::WorkloadRequest out = request(dashboard, "submit", "POST", "/api/jobs/");
  out.body = submission.dump();
  out.attempt = attempt;
  out.read = read_text;
  return out;
}

plan::WorkloadRequest stop_job(const Dashboard& dashboard, std::string_view id) {
  plan::WorkloadRequest out = request(dashboard, "stop", "POST", fmt::format("/api/jobs/{}/stop", percent_encode(id)));
  out.read = read_text;
  return out;
}

std::string application_hash(const Json& application) { return short_hash(normalized(application).dump()); }

plan::WorkloadRequest get_applications(const Dashboard& dashboard, std::string name, Duration interval) {
  plan::WorkloadRequest out =
      request(dashboard, std::move(name), "GET", "/api/serve/applications/?api_type=declarative");
  out.interval = interval;
  out.read = read_applications;
  return out;
}

std::optional<ServeInfo> serve_info(const plan::WorkloadAnswer& answer) {
  if (answer.status != 200 || !answer.content.is_object()) return std::nullopt;
  ServeInfo out;
  if (const Json* applications = find_set(answer.content, {"applications"}); applications != nullptr) {
    for (const auto& [name, application] : applications->items()) {
      ApplicationInfo& info = out.applications[name];
      info.status = string_at(application, {"status"});
      info.message = string_at(application, {"message"});
      info.config = string_at(application, {"config"});
      for (const auto& [deployment_name, deployment] : application.at("deployments").items()) {
        info.deployments[deployment_name] = {string_at(deployment, {"status"}), string_at(deployment, {"message"})};
      }
    }
  }
  for (const Json& proxy : array_at(answer.content, {"proxies"})) out.proxies.push_back(proxy.get<std::string>());
  return out;
}

plan::WorkloadRequest put_applications(const Dashboard& dashboard, std::string name, const Json& config,
                                       std::int64_t attempt) {
  plan::WorkloadRequest out = request(dashboard, std::move(name), "PUT", "/api/serve/applications/");
  out.body = config.dump();
  out.attempt = attempt;
  out.read = read_text;
  return out;
}

std::string explain(const plan::WorkloadAnswer& answer) {
  if (answer.status == 0) return clip(answer.error, kMaxMessage);
  const std::string text = string_at(answer.content, {"text"});
  return text.empty() ? fmt::format("HTTP status {}", answer.status) : fmt::format("{}: {}", answer.status, text);
}

}  // namespace tpuslice::ray

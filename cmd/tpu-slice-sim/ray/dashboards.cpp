#include "cmd/tpu-slice-sim/ray/dashboards.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace tpuslice::sim {
namespace {

constexpr std::string_view kJobs = "/api/jobs/";
constexpr std::string_view kApplications = "/api/serve/applications/";
constexpr std::size_t kHugeBody = 8U << 20U;
/// Maximum of the requests that are kept for take_requests().
constexpr std::size_t kMaxRequests = 10'000;

http::Response reply(int status, const Json& body) {
  return {status, {{"Content-Type", "application/json"}}, body.dump()};
}
http::Response text_reply(int status, std::string text) { return {status, {}, std::move(text)}; }

std::int64_t milliseconds(Timestamp time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

bool is_terminal(std::string_view status) { return status == "STOPPED" || status == "SUCCEEDED" || status == "FAILED"; }

/// "<service>.<namespace>" of "<service>.<namespace>.svc.cluster.local".
std::string service_of(const http::Request& request) {
  const std::string* host = http::find_header(request.headers, "Host");
  if (host == nullptr) return {};
  const std::size_t end = host->find(".svc");
  return end == std::string::npos ? *host : host->substr(0, end);
}

http::Response faulty(DashboardFault fault) {
  switch (fault) {
    case DashboardFault::kFailing:
      return text_reply(500, "Internal Server Error");
    case DashboardFault::kWrongTypes:
      return reply(200, {{"status", 7}, {"applications", Json::array({1})}, {"proxies", "none"}, {"end_time", "now"}});
    case DashboardFault::kHuge:
      return text_reply(200, std::string(kHugeBody, '['));
    default:
      return text_reply(200, "<html>not JSON");
  }
}

}  // namespace

std::optional<DashboardFault> parse_dashboard_fault(std::string_view text) {
  using enum DashboardFault;
  constexpr std::array kNames{std::pair{"none", kNone},
                              std::pair{"slow", kSlow},
                              std::pair{"failing", kFailing},
                              std::pair{"invalid", kInvalid},
                              std::pair{"wrong types", kWrongTypes},
                              std::pair{"huge", kHuge}};
  for (const auto& [name, fault] : kNames) {
    if (text == name) return fault;
  }
  return std::nullopt;
}

std::optional<http::Response> RayDashboards::handle(const http::Request& request) {
  const MutexLock lock(mutex_);
  const std::string service = service_of(request);
  if (requests_.size() < kMaxRequests) {
    requests_.push_back(fmt::format("{} {} {}", request.method, service, request.target));
  }
  if (fault_ != DashboardFault::kNone && fault_ != DashboardFault::kSlow) return faulty(fault_);
  http::Response response = answer_locked(service, request);
  if (fault_ == DashboardFault::kSlow) return std::nullopt;
  return response;
}

http::Response RayDashboards::answer_locked(const std::string& service, const http::Request& request) {
  const std::string path = request.target.substr(0, request.target.find('?'));
  if (path == "/-/healthz") return text_reply(200, "success");
  if (path == kApplications) {
    if (request.method == "GET") return reply(200, applications_locked(service));
    Result<Json> config = parse_json(request.body);
    const Json* applications = config ? find_set(*config, {"applications"}) : nullptr;
    if (applications == nullptr || !applications->is_array()) return text_reply(400, "applications: missing");
    serve_[service].config = *std::move(config);
    return text_reply(200, "");
  }
  if (!path.starts_with(kJobs)) return text_reply(404, "404: Not Found");
  std::string id = path.substr(kJobs.size());
  if (id.empty()) {
    const Result<Json> submission = parse_json(request.body);
    return submission ? submit_locked(*submission) : text_reply(400, submission.error().message());
  }
  if (id.ends_with("/stop")) return stop_locked(id.substr(0, id.size() - 5));
  return get_job_locked(id);
}

http::Response RayDashboards::submit_locked(const Json& submission) {
  const std::string id = string_at(submission, {"submission_id"});
  if (string_at(submission, {"entrypoint"}).empty()) return text_reply(400, "entrypoint: missing");
  if (jobs_.contains(id)) {
    return text_reply(500, fmt::format("Job with submission_id {} already exists. Please use a different "
                                       "submission_id.",
                                       id));
  }
  jobs_[id] = {"RUNNING", "Job is currently running.", clock_.wall(), {}};
  return reply(200, {{"job_id", id}, {"submission_id", id}});
}

http::Response RayDashboards::get_job_locked(const std::string& id) {
  const Job* job = find_locked(id);
  if (job == nullptr) return text_reply(404, fmt::format("Job {} does not exist", id));
  Json out = {{"submission_id", id},
              {"status", job->status},
              {"message", job->message},
              {"start_time", milliseconds(job->start)},
              {"end_time", nullptr}};
  if (job->end) out["end_time"] = milliseconds(*job->end);
  return reply(200, out);
}

http::Response RayDashboards::stop_locked(const std::string& id) {
  Job* job = find_locked(id);
  if (job == nullptr) return text_reply(404, fmt::format("Job {} does not exist", id));
  const bool stopped = !is_terminal(job->status);
  if (stopped) *job = {"STOPPED", "Job was intentionally stopped.", job->start, clock_.wall()};
  return reply(200, {{"stopped", stopped}});
}

Json RayDashboards::applications_locked(const std::string& service) const {
  Json applications = Json::object();
  Json proxies = Json::object();
  if (const auto found = serve_.find(service); found != serve_.end()) {
    const Serve& serve = found->second;
    for (const Json& application : array_at(serve.config, {"applications"})) {
      const std::string name = string_at(application, {"name"}, "default");
      const auto set = serve.applications.find(name);
      Json state = set == serve.applications.end() ? Json{{"status", "RUNNING"}, {"message", ""}} : set->second;
      const bool running = string_at(state, {"status"}) == "RUNNING";
      state["deployed_app_config"] = application;
      state["deployments"] = {{"Deployment", {{"status", running ? "HEALTHY" : "UPDATING"}, {"message", ""}}}};
      applications[name] = std::move(state);
    }
    for (const std::string& address : serve.proxies) {
      proxies["node-" + address] = {{"node_ip", address}, {"status", "HEALTHY"}};
    }
  }
  return {{"applications", std::move(applications)}, {"proxies", std::move(proxies)}};
}

RayDashboards::Job* RayDashboards::find_locked(const std::string& id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return nullptr;
  Job& job = found->second;
  if (job_duration_ && !is_terminal(job.status) && clock_.wall() >= job.start + *job_duration_) {
    job = {"SUCCEEDED", "Job finished successfully.", job.start, job.start + *job_duration_};
  }
  return &job;
}

void RayDashboards::submit(const Json& submission) {
  const MutexLock lock(mutex_);
  (void)submit_locked(submission);
}

void RayDashboards::set_fault(DashboardFault fault) {
  const MutexLock lock(mutex_);
  fault_ = fault;
}

void RayDashboards::set_job(const std::string& id, const std::string& status, const std::string& message) {
  const MutexLock lock(mutex_);
  const auto found = jobs_.find(id);
  const Timestamp now = clock_.wall();
  const Timestamp start = found == jobs_.end() ? now : found->second.start;
  jobs_[id] = {status, message, start, is_terminal(status) ? std::optional(now) : std::nullopt};
}

void RayDashboards::forget_job(const std::string& id) {
  const MutexLock lock(mutex_);
  jobs_.erase(id);
}

void RayDashboards::set_application(const std::string& service, const std::string& name, const std::string& status,
                                    const std::string& message) {
  const MutexLock lock(mutex_);
  serve_[service].applications[name] = {{"status", status}, {"message", message}};
}

void RayDashboards::forget_applications(const std::string& service) {
  const MutexLock lock(mutex_);
  serve_[service].config = nullptr;
}

void RayDashboards::set_proxies(const std::string& service, std::vector<std::string> addresses) {
  const MutexLock lock(mutex_);
  serve_[service].proxies = std::move(addresses);
}

std::function<Result<http::Response>(const std::string&, const http::Request&, Duration, const std::stop_token&)>
in_process(RayDashboards& dashboards) {
  return [&dashboards](const std::string& address, const http::Request& request, Duration /*deadline*/,
                       const std::stop_token& /*stop*/) -> Result<http::Response> {
    std::optional<http::Response> response = dashboards.handle(request);
    if (response) return *std::move(response);
    return Error::of(ErrorCode::kTimeout, "{} http://{}{}: no answer in time", request.method, address, request.target);
  };
}

std::vector<std::string> RayDashboards::take_requests() {
  const MutexLock lock(mutex_);
  return std::exchange(requests_, {});
}

}  // namespace tpuslice::sim

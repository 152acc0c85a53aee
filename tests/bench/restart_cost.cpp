// Bench: time and cost of a restart of a JobSet.
#include <utility>

#include <fmt/format.h>

#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/bench/bench.h"
#include "tests/bench/machine.h"
#include "tests/support/eventually.h"
#include "tpu/labels.h"

namespace tpuslice::bench {
namespace {

double elapsed(Instant from, Instant to) { return std::chrono::duration<double>(to - from).count(); }

bool is_floor(RestartMethod method) {
  return method != RestartMethod::kAtFailureTarget && method != RestartMethod::kAtFailed;
}

/// `jobset` with this number of restarts in its status.
Object restarted(Object jobset, int restarts) {
  jobset.mutable_json()["status"]["restarts"] = restarts;
  return jobset;
}

}  // namespace

std::string_view name_of(RestartMethod method) {
  switch (method) {
    case RestartMethod::kAtFailureTarget:
      return "at FailureTarget";
    case RestartMethod::kAtFailed:
      return "at Failed";
    case RestartMethod::kForeground:
      return "floor, foreground";
    case RestartMethod::kBackground:
      return "floor, background";
    case RestartMethod::kDeletePods:
      return "floor, background and all pods";
  }
  return "";
}

Result<std::vector<Restart>> Bench::restart_jobset(Shape shape, RestartMethod method, int times) {
  ASSIGN_OR_RETURN(const std::string where, new_namespace("again"));
  if (method == RestartMethod::kAtFailureTarget) shape.restart_at = "FailureTarget";
  if (!is_floor(method)) RETURN_IF_ERROR(start_operator(Kind::kJobSet));
  ASSIGN_OR_RETURN(const std::vector<Object> jobsets, apply(shape, where));
  if (is_floor(method)) {
    ASSIGN_OR_RETURN(const auto lean, connect());
    Creation ignored;
    RETURN_IF_ERROR(post_bare_jobs(*lean, jobsets, where, ignored));
  }
  std::vector<Restart> out;
  for (int attempt = 0; attempt < times; ++attempt) {
    const auto present = static_cast<std::size_t>(attempt + 1) * shape.pods();
    ASSIGN_OR_RETURN(const Instant created, watch_->wait_added(where, present, options_.limit));
    static_cast<void>(created);
    RETURN_IF_ERROR(make_pods_ready(where));
    RETURN_IF_ERROR(settle());
    ASSIGN_OR_RETURN(const Restart restart, restart_once(shape, method, jobsets.front(), attempt));
    out.push_back(restart);
  }
  RETURN_IF_ERROR(settle());
  if (operator_) RETURN_IF_ERROR(stop_operator());
  RETURN_IF_ERROR(remove(Kind::kJobSet, jobsets, where));
  return out;
}

Status Bench::make_pods_ready(const std::string& namespace_name) {
  const Json running = {
      {"phase", "Running"},
      {"conditions",
       Json::array({{{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", format_rfc3339(clock_.wall())}}})}};
  ASSIGN_OR_RETURN(const client::ListPage pods,
                   plane_->client().list(kPods, {.namespace_name = namespace_name, .limit = 0}));
  for (const std::string& text : pods.items) {
    ASSIGN_OR_RETURN(const Json pod, parse_json(text));
    RETURN_IF_ERROR(patch_status({namespace_name, string_at(pod, {"metadata", "name"})}, running));
  }
  const auto all_counted = [&] {
    const auto jobs = plane_->client().list(kJobs, {.namespace_name = namespace_name, .limit = 0});
    std::int64_t ready = 0;
    for (const std::string& text : jobs ? jobs->items : std::vector<std::string>()) {
      const Result<Json> job = parse_json(text);
      ready += job ? int_at(*job, {"status", "ready"}) : 0;
    }
    return ready == static_cast<std::int64_t>(pods.items.size());
  };
  if (testing::eventually(all_counted, options_.limit)) return {};
  return Error::of(ErrorCode::kTimeout, "{}: the status of the Jobs does not count all ready pods", namespace_name);
}

Result<Restart> Bench::restart_once(const Shape& shape, RestartMethod method, const Object& jobset, int attempt) {
  const std::string where = jobset.namespace_name();
  ASSIGN_OR_RETURN(const client::ListPage pods, plane_->client().list(kPods, {.namespace_name = where, .limit = 0}));
  ASSIGN_OR_RETURN(const Json chosen, parse_json(pods.items.at(pods.items.size() / 2)));
  ASSIGN_OR_RETURN(const auto watch,
                   RestartWatch::start(plane_->config(), {.namespace_name = where,
                                                          .resource_version = pods.resource_version,
                                                          .attempt = attempt,
                                                          .jobs = static_cast<std::size_t>(shape.slices),
                                                          .pods = shape.pods()}));
  // The operator's account may not delete collections of pods.
  ASSIGN_OR_RETURN(const auto lean, LeanClient::connect(plane_->config(), kInFlight));
  const Usage before = usage();
  const double cpu = operator_ ? cpu_seconds(operator_->pid()) : 0;
  const Instant started = clock_.now();
  RETURN_IF_ERROR(is_floor(method) ? restart_floor(*lean, method, jobset, attempt, *watch)
                                   : fail_pod({where, string_at(chosen, {"metadata", "name"})}));
  ASSIGN_OR_RETURN(const Instant ended, watch->wait(RestartStep::kPodsCreated, options_.limit));
  Restart out;
  const Usage after = usage();
  out.apiserver_cpu = after.apiserver - before.apiserver;
  out.controllers_cpu = after.controllers - before.controllers;
  if (operator_) out.operator_cpu = cpu_seconds(operator_->pid()) - cpu;
  for (std::size_t step = 0; step < kRestartSteps; ++step) {
    const std::optional<Instant> at = watch->at(static_cast<RestartStep>(step));
    // Later events, such as the condition Failed of a Job, are not waited for.
    if (at && *at <= ended) out.seconds[step] = elapsed(started, *at);
  }
  // The next restart begins with the pods of this one only.
  ASSIGN_OR_RETURN(const Instant gone, watch->wait(RestartStep::kPodsDeleted, options_.limit));
  static_cast<void>(gone);
  return out;
}

Status Bench::restart_floor(LeanClient& client, RestartMethod method, const Object& jobset, int attempt,
                            const RestartWatch& watch) {
  BareJobs jobs;
  RETURN_IF_ERROR(add_jobs_of(restarted(jobset, attempt + 1), options_.gangs, jobs));
  const std::string where = jobset.namespace_name();
  const char* const propagation = method == RestartMethod::kForeground ? "Foreground" : "Background";
  std::vector<std::string> paths;
  for (const std::string& name : jobs.names) {
    paths.push_back(kJobs.path(where, name) + "?propagationPolicy=" + propagation);
  }
  if (method == RestartMethod::kDeletePods) {
    paths.push_back(fmt::format("{}?labelSelector={}%3D{}", kPods.path(where), jobset::kJobSetName, jobset.name()));
  }
  RETURN_IF_ERROR(client.remove(paths));
  for (const RestartStep step : {RestartStep::kJobsDeleted, RestartStep::kPodsDeleted}) {
    ASSIGN_OR_RETURN(const Instant deleted, watch.wait(step, options_.limit));
    static_cast<void>(deleted);
  }
  return client.post(kJobs.path(where), jobs.jobs);
}

}  // namespace tpuslice::bench

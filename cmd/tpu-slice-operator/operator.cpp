#include "cmd/tpu-slice-operator/operator.h"

#include <thread>
#include <utility>

#include <fmt/ranges.h>

#include "api/base/pause.h"
#include "api/base/stacks.h"
#include "cmd/tpu-slice-operator/kinds.h"
#include "cmd/tpu-slice-operator/log_level_page.h"
#include "cmd/tpu-slice-operator/slice_settings.h"
#include "cmd/tpu-slice-operator/upstream.h"
#include "controllers/history/history_controller.h"
#include "controllers/placement/placement_controller.h"
#include "controllers/slice/slice_controller.h"
#include "tpu/chips.h"

namespace tpuslice {
namespace {

/// Deadline of each of two reviews. Prometheus waits for ten seconds.
constexpr Duration kReviewDeadline = std::chrono::seconds(4);

/// Renewal must fail fast enough to be tried again before the lease is given up.
constexpr Duration kElectionDeadline = std::chrono::seconds(4);

runtime::ManagerOptions manager_options(const OperatorOptions& options, const OperatorDependencies& dependencies) {
  runtime::ManagerOptions result;
  result.leader_elect = options.leader_elect;
  result.election.namespace_name =
      options.leader_election_namespace.empty() ? dependencies.namespace_name : options.leader_election_namespace;
  result.election.name = options.leader_election_id;
  result.election.identity = dependencies.identity;
  // Workers execute actions, too. More threads than requests in flight would only wait for each other.
  const int in_flight = options.kube_api_max_in_flight;
  result.action_threads =
      static_cast<std::size_t>(std::max(in_flight - options.max_concurrent_reconciles, in_flight / 2));
  result.memory_budget =
      options.memory_budget > 0 ? options.memory_budget : runtime::memory_budget_of(runtime::memory_limit());
  result.kept_keys.assign(tpu::kKeptKeys.begin(), tpu::kKeptKeys.end());
  result.seed = std::hash<std::string>()(dependencies.identity);
  return result;
}

/// Used for pods that our controllers create as well as for pods that the webhook admits.
rules::MutationOptions mutation_options(const OperatorOptions& options) {
  rules::MutationOptions result;
  result.topology_key = options.topology_key;
  result.topology_keys = topology_keys(options);
  result.device_env = options.device_env;
  result.gate = options.enables("slice");  // Only the slice controllers remove the gate.
  result.kinds = admission_kinds();
  for (const kind::Kind* each : kinds()) {
    if (options.enables(each->controller)) result.served_kinds.emplace(each->type.kind);
  }
  return result;
}

kind::Settings kind_settings(const OperatorOptions& options, const OperatorDependencies& dependencies) {
  kind::Settings settings;
  settings.mutation = mutation_options(options);
  settings.cluster_domain = options.cluster_domain;
  settings.watch_namespaces = options.watch_namespaces;
  settings.has_webhook = options.webhook_bind_address != "0";
  settings.controller = {.workers = options.max_concurrent_reconciles};
  settings.send_to_workload = dependencies.send_to_workload;
  settings.configuration = options.kind_sections;
  return settings;
}

/// Pages of the metrics server that show what the process does.
decltype(MetricsServerOptions::pages) debug_pages(const runtime::Manager& manager, const Logger& log) {
  const auto reply = [](int status, const char* type, std::string body) {
    return http::Response{status, {{"Content-Type", type}}, std::move(body)};
  };
  const auto keys = [&manager, reply](const http::Request& request) {
    const auto query = runtime::parse_key_query(request.target);
    if (!query) return reply(400, "text/plain; charset=utf-8", query.error().message() + "\n");
    return reply(200, "application/json", runtime::to_json(manager.report(*query)));
  };
  const auto log_level = [log](const http::Request& request) { return answer_log_level(request, log); };
  const auto threads = [reply](const http::Request&) {
    return reply(200, "text/plain; charset=utf-8", stacks_of_all_threads());
  };
  return {{"/debug/keys", {keys}}, {"/debug/log-level", {log_level, true}}, {"/debug/threads", {threads}}};
}

/// Those whose controllers run; their stores are added already.
slice::Workloads workloads(runtime::Manager& manager, const OperatorOptions& options) {
  slice::Workloads out;
  for (const kind::Kind* each : kinds()) {
    if (!options.enables(each->controller) || each->admission.identify == nullptr) continue;
    const runtime::Namespaces& namespaces = options.watch_namespaces;
    out.add(each->type, manager.store<ObjectView>(each->type, {.namespaces = namespaces}), namespaces, each->rests);
  }
  return out;
}

std::string list_of(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

/// "<what>: <found>" unless nothing was found.
Status check_none(std::string_view what, const std::string& found) {
  return found.empty() ? Status() : Status(Error::unavailable("{}: {}", what, found));
}

}  // namespace

Operator::Operator(const OperatorOptions& options, OperatorDependencies dependencies)
    : dependencies_(std::move(dependencies)),
      api_(dependencies_.api),
      election_api_(dependencies_.election_api, {.deadline = kElectionDeadline}),
      review_api_(dependencies_.review_api == nullptr ? dependencies_.api : *dependencies_.review_api,
                  {.deadline = kReviewDeadline}),
      process_metrics_(dependencies_.metrics, dependencies_.clock),
      manager_(api_, election_api_, dependencies_.clock, dependencies_.metrics, dependencies_.log,
               manager_options(options, dependencies_)),
      shutdown_delay_(std::chrono::seconds(options.shutdown_delay_seconds)),
      resource_access_({}, review_api_, dependencies_.clock) {}

// Members are destroyed later: the metrics server then waits for its requests, but not for their reviews.
Operator::~Operator() { resource_access_.stop(); }

Result<std::unique_ptr<Operator>> Operator::start(const OperatorOptions& options, OperatorDependencies dependencies) {
  std::unique_ptr<Operator> result(new Operator(options, std::move(dependencies)));
  options.feature_gates.report(result->dependencies_.metrics);
  result->dependencies_.metrics
      .gauge("tpuslice_build_info", "1, with the version of the operator and the build id of its program.",
             {{"version", TPUSLICE_VERSION}, {"build_id", std::string(build_id())}})
      .set(1);
  kind::Settings settings = kind_settings(options, result->dependencies_);
  for (const kind::Kind* each : kinds()) {
    settings.controller.counters = each->counters;
    settings.controller.muted_counters = options.upstream_metrics ? std::string_view() : each->upstream.metrics;
    if (!options.enables(each->controller)) continue;
    each->add(result->manager_, settings);
    if (options.upstream_metrics && each->upstream_metrics != nullptr) {
      result->upstream_metrics_.push_back({each->controller, each->upstream_metrics(result->manager_, settings)});
    }
  }
  if (options.enables("slice")) result->add_slice_controllers(options);
  for (runtime::UpstreamController& each : upstream_controllers(options)) result->manager_.defer_to(std::move(each));
  RETURN_IF_ERROR(result->start_webhook(options));
  RETURN_IF_ERROR(result->start_metrics_server(options));
  RETURN_IF_ERROR(result->start_health_server(options));
  return result;
}

void Operator::add_slice_controllers(const OperatorOptions& options) {
  const std::string& own_namespace = dependencies_.namespace_name;
  slice::SliceStores stores = slice::add_slice_stores(manager_, workloads(manager_, options));
  const history::History history = history::add_history(manager_, dependencies_.metrics, stores, own_namespace);
  stores.on_interruption = [journal = history.journal](const auto& each) { journal->record(each); };
  fleet_metrics_ =
      std::make_unique<placement::FleetMetrics>(stores.pods, stores.nodes, stores.indexes, options.topology_key);
  const placement::PlacementOptions of_placement = placement_options(options, own_namespace);
  placement::add_placement(manager_, stores, of_placement, options.max_concurrent_reconciles);
  slice::add_slices(manager_, stores, slice_options(options), {.workers = options.max_concurrent_reconciles});
  std::vector<ResourceType> served;
  for (const kind::Kind* each : kinds()) {
    if (options.enables(each->controller)) served.push_back(each->type);
  }
  fleet_source_ = std::make_unique<FleetSource>(manager_, stores, history, of_placement, options.topology_key, served,
                                                options.watch_namespaces);
  history.journal->name_workloads_by([this](const auto& workload) { return fleet_source_->owner_of(workload); });
  fleet_pages_ =
      std::make_unique<FleetPages>([this] { return fleet_source_->take(); }, resource_access_, dependencies_.clock);
}

Status Operator::start_webhook(const OperatorOptions& options) {
  if (options.webhook_bind_address == "0") return {};
  webhook::WebhookServerOptions webhook;
  webhook.address = options.webhook_bind_address;
  webhook.certificate_directory = options.webhook_cert_dir;
  webhook.client_ca_file = options.webhook_client_ca_file;
  webhook.service = options.webhook_service;
  webhook.metrics_service = options.metrics_service;
  webhook.namespace_name = dependencies_.namespace_name;
  webhook.mutation = mutation_options(options);
  auto server =
      webhook::WebhookServer::start(webhook, api_, api_, dependencies_.clock, dependencies_.metrics, dependencies_.log);
  if (!server) return server.error().within("--webhook-bind-address");
  webhook_ = std::move(*server);
  // Kinds that are left to an upstream controller are handled as if --controllers had left them out.
  manager_.upstream().on_change([this, mutation = webhook.mutation] {
    rules::MutationOptions now = mutation;
    for (const kind::Kind* each : kinds()) {
      if (manager_.upstream().left(each->controller)) now.served_kinds.erase(std::string(each->type.kind));
    }
    webhook_->set_mutation(std::move(now));
  });
  dependencies_.log.info("listening", {{"for", "webhook"}, {"port", webhook_->port()}});
  return {};
}

Status Operator::start_health_server(const OperatorOptions& options) {
  if (options.health_probe_bind_address == "0") return {};
  auto server = http::Server::start(small_server(options.health_probe_bind_address), dependencies_.clock,
                                    [endpoints = health_endpoints()](const http::Request& request, const http::Peer&) {
                                      http::Reply reply;
                                      reply.response = answer_health(endpoints, request.target);
                                      return reply;
                                    });
  if (!server) return server.error().within("--health-probe-bind-address");
  health_server_ = std::move(*server);
  dependencies_.log.info("listening", {{"for", "health"}, {"port", health_server_->port()}});
  return {};
}

Status Operator::start_metrics_server(const OperatorOptions& options) {
  if (options.metrics_bind_address == "0") return {};
  MetricsServerOptions metrics;
  metrics.address = options.metrics_bind_address;
  metrics.secure = options.metrics_secure;
  metrics.certificate_directory = options.metrics_cert_dir;
  metrics.service = options.metrics_service;
  metrics.namespace_name = dependencies_.namespace_name;
  metrics.pages = debug_pages(manager_, dependencies_.log);
  if (fleet_pages_) metrics.pages.merge(fleet_pages_->pages());
  metrics.append = [this](std::string& text) { append_metrics(text); };
  metrics.shares_certificate = webhook_ && options.webhook_cert_dir.empty();
  auto server =
      MetricsServer::start(metrics, review_api_, dependencies_.clock, dependencies_.metrics, dependencies_.log);
  if (!server) return server.error().within("--metrics-bind-address");
  metrics_server_ = std::move(*server);
  if (metrics_server_->shares_certificate()) {
    webhook_->on_certificate([this](const http::Identity& identity) { metrics_server_->set_certificate(identity); });
  }
  dependencies_.log.info("listening", {{"for", "metrics"}, {"port", metrics_server_->port()}});
  return {};
}

void Operator::append_metrics(std::string& text) const {
  // Only the leader does: dashboards add the series of all replicas.
  if (!manager_.leading()) return;
  if (!upstream_metrics_.empty()) append_upstream_metrics(manager_, upstream_metrics_, text);
  if (!fleet_metrics_) return;
  SeriesWriter out(text);
  fleet_metrics_->write(out, dependencies_.clock.wall());
}

std::vector<HealthEndpoint> Operator::health_endpoints() const {
  const auto check = [](bool good, const char* problem) {
    return good ? Status() : Status(Error::unavailable("{}", problem));
  };
  HealthEndpoint live{"/healthz", {}};
  live.checks.push_back({"lease", [=, this] {
                           return check(shutting_down_ || manager_.healthy(),
                                        "the controllers did not stop after the lease was lost");
                         }});
  HealthEndpoint ready{"/readyz", {}};
  ready.checks.push_back({"shutdown", [=, this] { return check(!shutting_down_, "shutting down"); }});
  if (webhook_) {
    ready.checks.push_back({"webhook-certificate", [=, this] {
                              return check(webhook_->trusted(), "the webhook configurations have no CA of ours yet");
                            }});
    ready.checks.push_back(
        {"webhook-call", [=, this] { return check(webhook_->answers(), "the webhook does not answer itself"); }});
    ready.checks.push_back({"webhook-failure-policy",
                            [this] { return check_none("not as wanted", webhook_->failure_policy_problem()); }, false});
  }
  ready.checks.push_back(
      {"stores", [this] { return check_none("not synced", list_of(manager_.not_synced())); }, false});
  ready.checks.push_back(
      {"watches", [this] { return check_none("not watched", list_of(manager_.broken_watches())); }, false});
  ready.checks.push_back(
      {"leader", [=, this] { return check(manager_.leading(), "another replica leads, or none"); }, false});
  return {std::move(live), std::move(ready)};
}

void Operator::run(const std::stop_token& stop) {
  // The certificates are kept by a thread of their own: replicas that do not lead serve the webhook too.
  const ExceptionBarrier barrier("certificates", dependencies_.metrics, dependencies_.clock, dependencies_.log);
  std::jthread certificates;
  if (webhook_) {
    certificates =
        std::jthread([&, this](const std::stop_token& end) { barrier.keep_running(end, [&] { webhook_->run(end); }); });
  }
  std::jthread metrics_certificate;
  if (metrics_server_ && metrics_server_->keeps_certificate()) {
    metrics_certificate = std::jthread(
        [&, this](const std::stop_token& end) { barrier.keep_running(end, [&] { metrics_server_->run(end); }); });
  }
  const std::stop_callback on_stop(stop, [this] { begin_shutdown(); });
  manager_.run(stop);
  const Instant began = begin_shutdown();
  if (webhook_) pause(began + shutdown_delay_ - dependencies_.clock.now(), {});
}

Instant Operator::begin_shutdown() {
  shutting_down_ = true;
  if (webhook_) webhook_->stop_keep_alive();
  const MutexLock lock(mutex_);
  if (!shutdown_began_) shutdown_began_ = dependencies_.clock.now();
  return *shutdown_began_;
}

}  // namespace tpuslice

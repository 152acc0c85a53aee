#include "cmd/tpu-slice-sim/simulator.h"

#include <algorithm>
#include <utility>

#include "api/base/file.h"
#include "api/client/client.h"
#include "api/client/credentials.h"
#include "api/types/yaml.h"
#include "cmd/tpu-slice-sim/assets.h"
#include "cmd/tpu-slice-sim/cluster/saved_objects.h"
#include "cmd/tpu-slice-sim/report/slice_lines.h"
#include "tpu/catalog.h"
#include "tpu/labels.h"

namespace tpuslice {
namespace {

constexpr const char* kNamespace = "tpu-slice-system";
constexpr const char* kOperatorToken = "operator";  // Not a secret: the listener is on loopback.
/// Maximum wait of the driver, and so the maximum delay of a change without a notification.
constexpr Duration kPollInterval = std::chrono::milliseconds(100);
constexpr Duration kSettleTime = std::chrono::milliseconds(1500);
/// Duration of a job that is submitted to Ray.
constexpr Duration kJobDuration = std::chrono::seconds(3);
constexpr Duration kPoll = std::chrono::milliseconds(50);

sim::UserInfo operator_user() {
  return {"system:serviceaccount:tpu-slice-system:tpu-slice-operator",
          {"system:serviceaccounts", "system:serviceaccounts:tpu-slice-system", "system:authenticated"}};
}

/// A list of a report has up to 24 MiB.
constexpr YamlLimits kFileLimits = {.bytes = 64U << 20U, .nodes = 10'000'000};

/// Errors: InvalidArgument for a topology that the accelerator of a pool does not have.
Status check_topologies(const std::vector<sim::NodePool>& pools) {
  for (std::size_t i = 0; i < pools.size(); ++i) {
    const auto accelerator = tpu::find_accelerator(pools[i].accelerator);
    const auto topology = tpu::Topology::parse(pools[i].topology);
    if (!accelerator || !topology) continue;
    if (const Status legal = tpu::check_topology(**accelerator, *topology); !legal) {
      return legal.error().within(fmt::format("pools[{}].topology", i));
    }
  }
  return {};
}

/// The saved nodes, and nodes without TPUs for all other pods if there are none among them.
Status read_nodes(const std::string& path, sim::ClusterOptions& out) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  const auto list = parse_yaml(text, kFileLimits);
  if (!list) return list.error().within(path);
  auto nodes = sim::saved_nodes(*list);
  if (!nodes) return nodes.error().within(path);
  out.nodes = std::move(*nodes);
  std::erase_if(out.pools, [](const sim::NodePool& pool) { return !pool.accelerator.empty(); });
  const bool only_tpus = std::ranges::all_of(out.nodes, [](const Json& node) {
    return !string_at(node, {"metadata", "labels", tpu::kAcceleratorLabel}).empty();
  });
  if (!only_tpus) out.pools.clear();
  return {};
}

Result<sim::ClusterOptions> cluster_options(const SimOptions& options) {
  sim::ClusterOptions result;
  if (!options.nodes.empty()) RETURN_IF_ERROR(read_nodes(options.nodes, result));
  if (options.pools.empty()) return result;
  ASSIGN_OR_RETURN(const std::string text, read_file(options.pools));
  const auto documents = parse_yaml_documents(text);
  if (!documents) return documents.error().within(options.pools);
  if (documents->size() != 1) return Error::invalid_argument("{}: expected one YAML document", options.pools);
  auto pools = sim::parse_node_pools(documents->front().value);
  if (!pools) return pools.error().within(options.pools);
  if (const Status legal = check_topologies(*pools); !legal) return legal.error().within(options.pools);
  result.pools = std::move(*pools);
  return result;
}

}  // namespace

Simulator::Simulator(sim::ClusterOptions options, Print print, bool verbose)
    : print_(std::move(print)),
      verbose_(verbose),
      cluster_(clock_, std::move(options)),
      dashboards_(clock_, kJobDuration),
      ray_pods_(cluster_, dashboards_, clock_, kJobDuration),
      webhooks_(cluster_.storage(),
                [this](const Json& client_config) { return webhook_connections_.connect(client_config); }),
      last_change_(clock_.now()) {
  cluster_.set_webhooks([this](const sim::AdmissionRequest& request) { return webhooks_.mutate(request); },
                        [this](const sim::AdmissionRequest& request) { return webhooks_.validate(request); });
}

Simulator::~Simulator() {
  operator_thread_ = {};
  driver_ = {};
}

Result<std::unique_ptr<Simulator>> Simulator::start(const SimOptions& options, Print print) {
  ASSIGN_OR_RETURN(sim::ClusterOptions cluster, cluster_options(options));
  std::unique_ptr<Simulator> simulator(new Simulator(std::move(cluster), std::move(print), options.verbose));
  RETURN_IF_ERROR(simulator->install_assets());
  RETURN_IF_ERROR(simulator->listen(options.listen));
  simulator->own_operator_ = !options.no_operator;
  simulator->driver_ = std::jthread([self = simulator.get()](const std::stop_token& stop) { self->drive(stop); });
  if (options.no_operator) {
    simulator->webhook_connections_.set_port(static_cast<std::uint16_t>(options.webhook_port));
  } else {
    RETURN_IF_ERROR(simulator->start_operator(options));
  }
  return simulator;
}

Status Simulator::install_assets() {
  for (const Asset& asset : assets()) {
    if (const Status applied = cluster_.apply_yaml(asset.text); !applied) return applied.error().within(asset.path);
  }
  return {};
}

Status Simulator::listen(const std::string& address) {
  sim::HttpsListenerOptions options;
  options.address = address;
  options.tokens[kOperatorToken] = operator_user();
  ASSIGN_OR_RETURN(listener_, sim::HttpsListener::start(cluster_.api_server(), clock_, std::move(options)));
  admin_.server = listener_->url();
  admin_.ca = listener_->ca();
  admin_.client_certificate = listener_->admin().certificate_chain;
  admin_.client_key = listener_->admin().private_key;
  return {};
}

Status Simulator::start_operator(const SimOptions& options) {
  client::ClientConfig config;
  config.server = admin_.server;
  config.ca = admin_.ca;
  config.token = kOperatorToken;
  ASSIGN_OR_RETURN(api_transport_, client::make_transport(config, clock_));
  ASSIGN_OR_RETURN(election_transport_, client::make_transport(config, clock_));
  OperatorOptions operator_options;
  operator_options.leader_elect = true;
  operator_options.metrics_bind_address = "0";
  operator_options.health_probe_bind_address = "0";
  operator_options.webhook_bind_address = "127.0.0.1:0";
  operator_options.shutdown_delay_seconds = 0;
  ASSIGN_OR_RETURN(const LogLevel level, parse_log_level(options.log_level));
  ASSIGN_OR_RETURN(
      operator_,
      Operator::start(operator_options, {.api = *api_transport_,
                                         .election_api = *election_transport_,
                                         .clock = clock_,
                                         .metrics = metrics_,
                                         .log = Logger({.level = level, .format = LogFormat::kText, .clock = &clock_}),
                                         .identity = "tpu-slice-sim",
                                         .namespace_name = kNamespace,
                                         .send_to_workload = sim::in_process(dashboards_)}));
  webhook_connections_.set_port(operator_->webhook_port());
  operator_thread_ = std::jthread([this](const std::stop_token& stop) {
    operator_->run(stop);
    const MutexLock lock(mutex_);
    operator_ended_ = true;
    changed_.notify_all();
  });
  return {};
}

void Simulator::drive(const std::stop_token& stop) {
  SliceLines slices;
  sim::Timeline::Summary summary;
  if (!verbose_) {
    summary = [&](const sim::Change& change, std::vector<std::string>& lines) { return slices.report(change, lines); };
  }
  sim::Timeline timeline(cluster_.registry(), clock_.now(), std::move(summary));
  while (!stop.stop_requested()) {
    const sim::Revision seen = cluster_.storage().revision();
    while (cluster_.step() && !stop.stop_requested()) {
    }
    if (own_operator_) ray_pods_.step();  // An operator of the user's does not use these dashboards.
    const std::vector<std::string> lines = timeline.take(clock_.now());
    for (const std::string& line : lines) print_(line);
    if (!lines.empty()) {
      const MutexLock lock(mutex_);
      last_change_ = clock_.now();
      changed_.notify_all();
    }
    // Waits for writes after those of step().
    const sim::Revision now = std::max(seen, cluster_.storage().revision());
    Duration wait = kPollInterval;
    if (const auto due = cluster_.next_due()) wait = std::clamp(*due - clock_.now(), Duration::zero(), kPollInterval);
    cluster_.storage().wait_past(now, wait, stop);
  }
}

Status Simulator::wait_ready(Duration limit, const std::stop_token& stop) {
  const Instant deadline = clock_.now() + limit;
  const MutexLock lock(mutex_);
  while (!operator_->ready() || !operator_->synced()) {
    if (operator_ended_) return Error::unavailable("the operator has stopped");
    if (stop.stop_requested()) return Error::of(ErrorCode::kCancelled, "interrupted");
    if (clock_.now() > deadline) return Error::of(ErrorCode::kTimeout, "the operator did not become ready");
    changed_.wait_for(mutex_, stop, kPoll, [] { return false; });
  }
  return {};
}

Status Simulator::apply(const std::string& path, const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  const auto documents = parse_yaml_documents(text, kFileLimits);
  if (!documents) return documents.error().within(path);
  ASSIGN_OR_RETURN(const auto transport, client::make_transport(admin_, clock_));
  client::Client api(*transport, {.field_manager = "tpu-slice-sim"});
  for (const YamlDocument& document : *documents) {
    const std::string where = fmt::format("{}:{}", path, document.line);
    for (Json& manifest : sim::saved_manifests(document.value)) {
      RETURN_IF_ERROR(apply_object(api, Object(std::move(manifest)), where, stop));
    }
  }
  // Settling starts here, even if nothing changes.
  const MutexLock lock(mutex_);
  last_change_ = clock_.now();
  return {};
}

Status Simulator::apply_object(client::Client& api, const Object& object, const std::string& where,
                               const std::stop_token& stop) {
  const sim::ResourcePtr resource = cluster_.registry().resources().find_kind(object.api_version(), object.kind());
  if (!resource) {
    return Error::invalid_argument("{}: no kind \"{}\" in \"{}\" is served", where, object.kind(),
                                   object.api_version());
  }
  const ResourceType type{resource->group, resource->version, resource->kind, resource->plural, resource->namespaced};
  ObjectKey key = object.key();
  if (resource->namespaced && key.namespace_name.empty()) key.namespace_name = "default";
  const auto applied = api.patch(type, key, client::PatchType::kApply, object.json(), {.force = true}, stop);
  if (!applied) return applied.error().within(where);
  return {};
}

Status Simulator::wait_settled(Duration limit, const std::stop_token& stop) {
  const Instant deadline = clock_.now() + limit;
  const MutexLock lock(mutex_);
  while (clock_.now() - last_change_ < kSettleTime || awaits_reason(cluster_.storage().list("pods"), clock_.wall())) {
    if (stop.stop_requested()) return Error::of(ErrorCode::kCancelled, "interrupted");
    if (clock_.now() > deadline) {
      return Error::of(ErrorCode::kTimeout, "the cluster has not settled after {} s; see --settle-timeout",
                       std::chrono::duration_cast<std::chrono::seconds>(limit).count());
    }
    changed_.wait_for(mutex_, stop, kPoll, [] { return false; });
  }
  return {};
}

void Simulator::stop_api_server() { listener_->stop(); }

Status Simulator::start_api_server() {
  cluster_.compact();
  return listener_->start_again();
}

Result<std::string> Simulator::operator_kubeconfig() const { return listener_->kubeconfig_for(operator_user()); }

}  // namespace tpuslice

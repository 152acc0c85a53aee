#include "tests/e2e/runner/scenario_runner.h"

#include <fmt/format.h>

#include "api/base/file.h"
#include "api/base/pause.h"
#include "api/types/yaml.h"
#include "tests/support/eventually.h"

namespace tpuslice::e2e {
namespace {

constexpr Duration kDeleteTimeout = std::chrono::minutes(1);
constexpr std::string_view kNodeTimeoutFlag = "--node-not-ready-timeout=";
constexpr ResourceType kAccounts{"", "v1", "ServiceAccount", "serviceaccounts"};

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

Result<std::unique_ptr<ScenarioRunner>> ScenarioRunner::start(World& world, const std::vector<std::string>& flags,
                                                              Print print) {
  ASSIGN_OR_RETURN(auto ray, RayServer::start());
  std::unique_ptr<ScenarioRunner> runner(new ScenarioRunner(world, std::move(print), std::move(ray)));
  RETURN_IF_ERROR(runner->start_operator(flags));
  return runner;
}

Status ScenarioRunner::start_operator(const std::vector<std::string>& flags) {
  ASSIGN_OR_RETURN(const int port, testing::free_port());
  RETURN_IF_ERROR(testing::register_webhook(world_.client(), port));
  testing::OperatorProcessOptions options{.kubeconfig = world_.operator_kubeconfig(),
                                          .log = world_.dir() + "/operator.log",
                                          .webhook_port = port,
                                          .flags = {"--ray-dashboard-address=" + ray_->address()}};
  for (const std::string& flag : flags) {
    // OperatorProcess sets this flag itself, and no flag may be given twice.
    if (flag.starts_with(kNodeTimeoutFlag)) {
      options.node_timeout_seconds = std::stoi(flag.substr(kNodeTimeoutFlag.size()));
    } else {
      options.flags.push_back(flag);
    }
  }
  ASSIGN_OR_RETURN(operator_, testing::OperatorProcess::start(std::move(options)));
  return {};
}

ScenarioRunner::~ScenarioRunner() {
  if (operator_ && operator_->running() && !operator_paused_) static_cast<void>(operator_->stop());
}

Status ScenarioRunner::run(const Scenario& scenario) {
  Status status = set_up(scenario);
  if (status.ok()) status = run_steps(scenario);
  if (!status.ok()) world_.keep();
  const Status cleaned = clean_up();
  if (status.ok() && !cleaned.ok()) return cleaned.error().within("clean-up of " + scenario.name);
  return status;
}

Status ScenarioRunner::set_up(const Scenario& scenario) {
  namespace_ = "e2e-" + scenario.name;
  saved_.clear();
  ray_->dashboards().set_fault(sim::DashboardFault::kNone);
  static_cast<void>(ray_->dashboards().take_requests());
  dashboard_requests_.clear();
  ASSIGN_OR_RETURN(const std::string text, read_file(world_.kubeconfig()));
  ASSIGN_OR_RETURN(Json config, parse_yaml(text));
  for (Json& context : config["contexts"]) context["context"]["namespace"] = namespace_;
  kubeconfig_ = fmt::format("{}/{}.kubeconfig", world_.dir(), namespace_);
  RETURN_IF_ERROR(write_private_file(kubeconfig_, to_yaml(config)));

  const Json namespace_object = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", namespace_}}}};
  const auto created = world_.client().create(kNamespaces, Object(namespace_object));
  if (!created) return created.error();
  RETURN_IF_ERROR(wait_until_empty(kDeleteTimeout, [&] {
    return world_.client().get(kAccounts, {namespace_, "default"}).ok() ? ""
                                                                        : "the default service account does not exist";
  }));
  for (const Distinctness& invariant : scenario.always) {
    ASSIGN_OR_RETURN(const ResourceType type, type_of(invariant.target));
    invariants_.push_back(std::make_unique<InvariantWatch>(world_.client(), type, namespace_, invariant));
  }
  if (scenario.autoscaler) RETURN_IF_ERROR(start_autoscaler(*scenario.autoscaler));
  ASSIGN_OR_RETURN(forbidden_before_, operator_->metric(kRequestsMetric, {{"code", "403"}}));
  return {};
}

Status ScenarioRunner::run_steps(const Scenario& scenario) {
  for (const Step& step : scenario.steps) {
    const Instant started = clock_.now();
    const Status done = run_step(step);
    print_(
        fmt::format("{:>6} {:6.2f} s  {}", done.ok() ? "ok" : "FAILED", seconds(clock_.now() - started), step.title));
    if (!done) return done.error().within(fmt::format("{}: {}", step.where, step.title));
    RETURN_IF_ERROR(check_invariants());
  }
  for (const auto& each : invariants_) {
    if (each->changes() == 0)
      return Error::invalid_argument("{}: an invariant watch observed no object", scenario.name);
  }
  return check_forbidden();
}

Status ScenarioRunner::check_invariants() const {
  for (const auto& each : invariants_) {
    const std::vector<std::string> violations = each->violations();
    if (!violations.empty()) return Error::invalid_argument("{}", violations.front());
  }
  return {};
}

Status ScenarioRunner::check_forbidden() {
  if (!operator_->running()) return {};
  ASSIGN_OR_RETURN(const double forbidden, operator_->metric(kRequestsMetric, {{"code", "403"}}));
  if (forbidden == forbidden_before_) return {};
  return Error::of(ErrorCode::kForbidden, "{} requests of the operator were forbidden; see {}",
                   forbidden - forbidden_before_, operator_->log());
}

Status ScenarioRunner::run_step(const Step& step) {
  const Status done = std::visit([&](const auto& action) { return act(step, action); }, step.action);
  if (!step.refused) return done;
  if (done.ok()) return Error::invalid_argument("expected an error, the request succeeded");
  if (std::regex_search(done.error().message(), *step.refused)) return {};
  return Error::invalid_argument("unexpected error message: {}", done.error().message());
}

Status ScenarioRunner::clean_up() {
  invariants_.clear();
  RETURN_IF_ERROR(restart_processes());
  for (const std::string& node : lost_nodes_) RETURN_IF_ERROR(mark_node(node, nullptr));
  lost_nodes_.clear();
  // Workloads first: the operator would try to create pods in the terminating namespace.
  ASSIGN_OR_RETURN(const CommandResult removed,
                   run_command("kubectl delete "
                               "raycronjobs,rayjobs,rayservices,rayclusters,jobsets,disaggregatedsets,leaderworkersets,"
                               "jobs,statefulsets --all "
                               "--cascade=foreground --timeout=60s",
                               kDeleteTimeout));
  if (removed.status != 0) return Error::internal("workloads are not deleted: {}", removed.output);
  // The namespace controller would check for terminating pods only every 15 seconds.
  ASSIGN_OR_RETURN(const CommandResult pods, run_command("kubectl delete pods --all --timeout=60s", kDeleteTimeout));
  if (pods.status != 0) return Error::internal("pods are not deleted: {}", pods.output);
  if (autoscaler_) RETURN_IF_ERROR(remove_autoscaler());
  RETURN_IF_ERROR(remove_cluster_objects());
  RETURN_IF_ERROR(wait_for_terminating_namespace(world_));
  // In a terminating namespace no event can be created.
  if (const Instant now = clock_.now(); now < events_sent_) pause(events_sent_ - now, {});
  const Status deleted = world_.client().remove(kNamespaces, {{}, namespace_});
  if (!deleted && deleted.error().code() != ErrorCode::kNotFound) return deleted;
  world_.terminating_namespace = namespace_;
  return {};
}

Status ScenarioRunner::wait_for_terminating_namespace(World& world) {
  if (world.terminating_namespace.empty()) return {};
  return wait_until_empty(kDeleteTimeout, [&]() -> std::string {
    const auto space = world.client().get(kNamespaces, {{}, world.terminating_namespace});
    if (!space && space.error().code() == ErrorCode::kNotFound) return "";
    return space ? "the namespace is not deleted: " + space->json().dump() : space.error().message();
  });
}

Status ScenarioRunner::remove_cluster_objects() {
  for (const auto& [type, key] : cluster_objects_) {
    const Status removed = world_.client().remove(type, key);
    if (!removed && removed.error().code() != ErrorCode::kNotFound) return removed;
  }
  cluster_objects_.clear();
  return {};
}

Status ScenarioRunner::restart_processes() {
  if (apiserver_killed_) RETURN_IF_ERROR(world_.start_apiserver());
  apiserver_killed_ = false;
  if (operator_paused_) operator_->resume();
  operator_paused_ = false;
  if (!operator_->running()) RETURN_IF_ERROR(operator_->restart());
  return {};
}

Status ScenarioRunner::wait_until_empty(Duration limit, const std::function<std::string()>& check) {
  std::string last;
  const auto matches = [&] {
    last = check();
    return last.empty();
  };
  if (testing::eventually(matches, limit)) return {};
  return Error::of(ErrorCode::kTimeout, "after {:.0f} s: {}", seconds(limit), last);
}

Result<ResourceType> ScenarioRunner::type_of(const Target& target) { return mapper_.for_resource(target.resource); }

Result<std::vector<Json>> ScenarioRunner::find(const Target& target) {
  ASSIGN_OR_RETURN(const ResourceType type, type_of(target));
  std::vector<Json> found;
  if (!target.name.empty()) {
    const auto object = world_.client().get(type, {type.namespaced ? namespace_ : "", target.name});
    if (object) found.push_back(object->json());
    if (!object && object.error().code() != ErrorCode::kNotFound) return object.error();
    return found;
  }
  ASSIGN_OR_RETURN(
      const client::ListPage page,
      world_.client().list(
          type, {.namespace_name = type.namespaced ? namespace_ : "", .label_selector = target.selector, .limit = 0}));
  for (const std::string& item : page.items) {
    ASSIGN_OR_RETURN(Json object, parse_json(item));
    found.push_back(std::move(object));
  }
  return found;
}

}  // namespace tpuslice::e2e

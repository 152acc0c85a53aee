#include "tests/e2e/runner/player.h"

#include <fmt/format.h>

#include "api/types/yaml.h"
#include "controllers/runtime/backoff.h"

namespace tpuslice::e2e {
namespace {

constexpr Duration kLook = std::chrono::milliseconds(50);
constexpr Duration kGoneLimit = std::chrono::minutes(1);
constexpr ResourceType kAccounts{"", "v1", "ServiceAccount", "serviceaccounts"};

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

Result<std::unique_ptr<Player>> Player::start(World& world, Print print) {
  std::unique_ptr<Player> player(new Player(world, std::move(print)));
  RETURN_IF_ERROR(player->start_operator());
  return player;
}

Status Player::start_operator() {
  ASSIGN_OR_RETURN(const int port, testing::free_port());
  RETURN_IF_ERROR(testing::register_webhook(world_.client(), port));
  ASSIGN_OR_RETURN(operator_, testing::OperatorProcess::start({.kubeconfig = world_.operator_kubeconfig(),
                                                               .log = world_.dir() + "/operator.log",
                                                               .webhook_port = port}));
  return {};
}

Status Player::play(const Scenario& scenario) {
  Status played = set_up(scenario);
  if (played.ok()) played = play_steps(scenario);
  if (!played.ok()) world_.keep();
  const Status tidied = tidy_up();
  if (played.ok() && !tidied.ok()) return tidied.error().within("after " + scenario.name);
  return played;
}

Status Player::set_up(const Scenario& scenario) {
  space_ = "e2e-" + scenario.name;
  memory_.clear();
  ASSIGN_OR_RETURN(const std::string text, testing::read_text_file(world_.kubeconfig()));
  ASSIGN_OR_RETURN(Json config, parse_yaml(text));
  for (Json& context : config["contexts"]) context["context"]["namespace"] = space_;
  kubeconfig_ = fmt::format("{}/{}.kubeconfig", world_.dir(), space_);
  RETURN_IF_ERROR(testing::write_private_file(kubeconfig_, to_yaml(config)));

  const Json space = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", space_}}}};
  const auto created = world_.client().create(kNamespaces, Object(space));
  if (!created) return created.error();
  RETURN_IF_ERROR(until(kGoneLimit, [&] {
    return world_.client().get(kAccounts, {space_, "default"}).ok() ? "" : "no default service account";
  }));
  for (const Distinctness& rule : scenario.always) {
    ASSIGN_OR_RETURN(const ResourceType type, type_of(rule.target));
    always_.push_back(std::make_unique<Always>(world_.client(), type, space_, rule));
  }
  ASSIGN_OR_RETURN(forbidden_before_, operator_->metric(kRequests, {{"code", "403"}}));
  return {};
}

Status Player::play_steps(const Scenario& scenario) {
  for (const Step& step : scenario.steps) {
    const Instant begun = clock_.now();
    const Status done = play_step(step);
    print_(fmt::format("{:>6} {:6.2f} s  {}", done.ok() ? "ok" : "FAILED", seconds(clock_.now() - begun), step.title));
    if (!done) return done.error().within(fmt::format("{}: {}", step.where, step.title));
    RETURN_IF_ERROR(check_always());
  }
  for (const auto& each : always_) {
    if (each->changes() == 0) return Error::invalid_argument("{}: nothing was ever watched", scenario.name);
  }
  return check_forbidden();
}

Status Player::check_always() const {
  for (const auto& each : always_) {
    const std::vector<std::string> violations = each->violations();
    if (!violations.empty()) return Error::invalid_argument("{}", violations.front());
  }
  return {};
}

Status Player::check_forbidden() {
  if (!operator_->running()) return {};
  ASSIGN_OR_RETURN(const double forbidden, operator_->metric(kRequests, {{"code", "403"}}));
  if (forbidden == forbidden_before_) return {};
  return Error::of(ErrorCode::kForbidden, "the operator was forbidden {} requests; see {}",
                   forbidden - forbidden_before_, operator_->log());
}

Status Player::play_step(const Step& step) {
  const Status done = std::visit([&](const auto& action) { return act(step, action); }, step.action);
  if (!step.refused) return done;
  if (done.ok()) return Error::invalid_argument("it was not refused");
  if (std::regex_search(done.error().message(), *step.refused)) return {};
  return Error::invalid_argument("it was refused with another message: {}", done.error().message());
}

Status Player::tidy_up() {
  always_.clear();
  RETURN_IF_ERROR(revive());
  for (const std::string& node : lost_nodes_) RETURN_IF_ERROR(mark_node(node, nullptr));
  lost_nodes_.clear();
  // Before the namespace: nobody may make a pod in one that is about to go, and the operator would try.
  ASSIGN_OR_RETURN(const CommandResult removed,
                   run_command("kubectl delete rayclusters,jobsets,leaderworkersets,jobs,statefulsets --all "
                               "--cascade=foreground --timeout=60s",
                               kGoneLimit));
  if (removed.status != 0) return Error::internal("rayclusters, jobsets, jobs or sets are left: {}", removed.output);
  // The namespace controller would look for pods that take their time only every 15 seconds.
  ASSIGN_OR_RETURN(const CommandResult pods, run_command("kubectl delete pods --all --timeout=60s", kGoneLimit));
  if (pods.status != 0) return Error::internal("pods are left: {}", pods.output);
  const Status deleted = world_.client().remove(kNamespaces, {{}, space_});
  if (!deleted && deleted.error().code() != ErrorCode::kNotFound) return deleted;
  return until(kGoneLimit, [&]() -> std::string {
    const auto space = world_.client().get(kNamespaces, {{}, space_});
    if (!space && space.error().code() == ErrorCode::kNotFound) return "";
    return space ? "namespace is left: " + space->json().dump() : space.error().message();
  });
}

Status Player::revive() {
  if (apiserver_away_) RETURN_IF_ERROR(world_.start_apiserver());
  apiserver_away_ = false;
  if (operator_paused_) operator_->resume();
  operator_paused_ = false;
  if (!operator_->running()) RETURN_IF_ERROR(operator_->start_again());
  return {};
}

Status Player::until(Duration limit, const std::function<std::string()>& problem) {
  const Instant end = clock_.now() + limit;
  for (std::string last = problem(); !last.empty(); last = problem()) {
    if (clock_.now() >= end) return Error::of(ErrorCode::kTimeout, "after {:.0f} s: {}", seconds(limit), last);
    runtime::pause(kLook, {});
  }
  return {};
}

Result<ResourceType> Player::type_of(const Target& target) { return kinds_.named(target.resource); }

Result<std::vector<Json>> Player::find(const Target& target) {
  ASSIGN_OR_RETURN(const ResourceType type, type_of(target));
  std::vector<Json> found;
  if (!target.name.empty()) {
    const auto object = world_.client().get(type, {type.namespaced ? space_ : "", target.name});
    if (object) found.push_back(object->json());
    if (!object && object.error().code() != ErrorCode::kNotFound) return object.error();
    return found;
  }
  ASSIGN_OR_RETURN(
      const client::ListPage page,
      world_.client().list(
          type, {.namespace_name = type.namespaced ? space_ : "", .label_selector = target.selector, .limit = 0}));
  for (const std::string& item : page.items) {
    ASSIGN_OR_RETURN(Json object, parse_json(item));
    found.push_back(std::move(object));
  }
  return found;
}

}  // namespace tpuslice::e2e

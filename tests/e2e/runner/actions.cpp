// ScenarioRunner: the action of each kind of step.
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "api/base/file.h"
#include "cmd/tpu-slice-sim/cluster/nodes/kubelet.h"
#include "tests/e2e/runner/scenario_runner.h"

namespace tpuslice::e2e {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFieldManager = "kubectl";
/// Of the operator. It renews it every 2 s and exits 10 s after the last renewal.
const ObjectKey kLease{"tpu-slice-system", "tpu-slice-operator"};
constexpr Duration kLeaseTimeout = std::chrono::seconds(30);
/// The operator sends an event again after ten seconds.
constexpr Duration kEventRetry = std::chrono::seconds(11);

ObjectKey key_in(const ResourceType& type, const std::string& namespace_name, const std::string& name) {
  return {type.namespaced ? namespace_name : "", name};
}

std::string object_name(const Json& object) { return string_at(object, {"metadata", "name"}); }

}  // namespace

Status ScenarioRunner::act(const Step&, const Apply& apply) {
  for (const Json& object : apply.objects) {
    ASSIGN_OR_RETURN(const ResourceType type,
                     mapper_.for_kind(string_at(object, {"apiVersion"}), string_at(object, {"kind"})));
    const auto applied =
        world_.client().patch(type, key_in(type, namespace_, object_name(object)), client::PatchType::kApply, object,
                              {.force = true, .field_manager = kFieldManager});
    if (!applied) return applied.error();
    if (!type.namespaced) cluster_objects_.emplace_back(type, applied->key());
  }
  return {};
}

Status ScenarioRunner::act(const Step&, const Patch& patch) {
  ASSIGN_OR_RETURN(const ResourceType type, type_of(patch.target));
  const auto kind = patch.body.is_array() ? client::PatchType::kJson : client::PatchType::kMerge;
  const auto patched = world_.client().patch(type, key_in(type, namespace_, patch.target.name), kind, patch.body,
                                             {.field_manager = kFieldManager});
  if (!patched) return patched.error();
  return {};
}

Status ScenarioRunner::act(const Step&, const Delete& action) {
  ASSIGN_OR_RETURN(const ResourceType type, type_of(action.target));
  ASSIGN_OR_RETURN(const auto objects, find(action.target));
  if (objects.empty()) return Error::not_found("{}: no objects found", action.target.text);
  for (const Json& object : objects) {
    RETURN_IF_ERROR(world_.client().remove(type, key_in(type, namespace_, object_name(object))));
  }
  return {};
}

Status ScenarioRunner::act(const Step&, const FailPods& fail) {
  ASSIGN_OR_RETURN(const auto pods, find(fail.target));
  if (pods.empty()) return Error::not_found("{}: no pods found", fail.target.text);
  for (const Json& pod : pods) {
    const auto failed = world_.client().update_status(
        kPods, {namespace_, object_name(pod)},
        {{"phase", "Failed"}, {"reason", "Evicted"}, {"message", "The node was low on resource: memory."}});
    if (!failed) return failed.error();
  }
  return {};
}

Status ScenarioRunner::mark_node(const std::string& node, const Json& ready) {
  const Json patch = {{"metadata", {{"annotations", {{sim::kNodeReadyAnnotation, ready}}}}}};
  const auto patched = world_.client().patch(kNodes, {{}, node}, client::PatchType::kMerge, patch);
  if (!patched) return patched.error();
  return {};
}

Status ScenarioRunner::act(const Step&, const LoseNodes& lose) {
  ASSIGN_OR_RETURN(const auto pods, find(lose.pods));
  if (pods.empty()) return Error::not_found("{}: no pods found", lose.pods.text);
  for (const Json& pod : pods) {
    const std::string node = string_at(pod, {"spec", "nodeName"});
    if (node.empty()) return Error::invalid_argument("pod {} has no node", object_name(pod));
    RETURN_IF_ERROR(mark_node(node, "false"));
    lost_nodes_.insert(node);
  }
  return {};
}

Status ScenarioRunner::act(const Step&, const ReturnNodes&) {
  for (const std::string& node : lost_nodes_) RETURN_IF_ERROR(mark_node(node, nullptr));
  lost_nodes_.clear();
  return {};
}

Status ScenarioRunner::act(const Step&, const Control& control) {
  if (!control.apiserver) return control_operator(control.verb);
  const bool operator_ran = operator_->running();
  if (control.verb != "start") {
    RETURN_IF_ERROR(check_forbidden());
    world_.kill_apiserver();
    apiserver_killed_ = true;
  }
  if (control.verb == "kill") return {};
  RETURN_IF_ERROR(world_.start_apiserver());
  apiserver_killed_ = false;
  events_sent_ = clock_.now() + kEventRetry;
  if (operator_ran) RETURN_IF_ERROR(await_leader());
  if (!operator_->running()) return {};
  // A starting API server forbids every request until it has read all roles.
  ASSIGN_OR_RETURN(forbidden_before_, operator_->metric(kRequestsMetric, {{"code", "403"}}));
  return {};
}

Status ScenarioRunner::await_leader() {
  if (operator_paused_) return {};
  std::string before;
  RETURN_IF_ERROR(wait_until_empty(kLeaseTimeout, [&]() -> std::string {
    if (!operator_->running()) return "";
    const auto lease = world_.client().get(kLeases, kLease);
    if (!lease) return lease.error().message();
    const std::string now = string_at(lease->json(), {"spec", "renewTime"});
    if (before.empty()) before = now;
    return now == before ? "the operator has neither renewed its Lease nor exited" : "";
  }));
  return operator_->running() ? Status() : operator_->restart();
}

Status ScenarioRunner::act(const Step&, const ExpectForbidden&) {
  ASSIGN_OR_RETURN(const double forbidden, operator_->metric(kRequestsMetric, {{"code", "403"}}));
  if (forbidden == forbidden_before_) return Error::invalid_argument("no request of the operator was forbidden");
  forbidden_before_ = forbidden;
  return {};
}

Status ScenarioRunner::control_operator(const std::string& verb) {
  if (verb == "pause" || verb == "resume") {
    operator_paused_ = verb == "pause";
    if (operator_paused_) {
      operator_->pause();
    } else {
      operator_->resume();
    }
    return {};
  }
  if (verb != "start") {
    // A new process counts from 0.
    RETURN_IF_ERROR(check_forbidden());
    forbidden_before_ = 0;
  }
  if (verb == "stop") return operator_->stop();
  if (verb != "start") operator_->kill();
  if (verb == "kill") return {};
  return operator_->restart();
}

Result<ScenarioRunner::CommandResult> ScenarioRunner::run_command(const std::string& command, Duration limit) {
  const std::string output = fmt::format("{}/{}.output", world_.dir(), namespace_);
  std::error_code ignored;
  fs::remove(output, ignored);
  ASSIGN_OR_RETURN(
      const auto process,
      testing::Process::start(
          {.program = "/bin/bash",
           .args = {"-o", "pipefail", "-c", command},
           .log = output,
           .env = {{"KUBECONFIG", kubeconfig_}, {"HOME", world_.dir()}, {"PATH", testing::path_with_programs()}}}));
  const auto status = process->wait(limit);
  if (!status) process->kill();
  auto text = read_file(output);
  if (!status) return Error::of(ErrorCode::kTimeout, "{}: timed out: {}", command, text.value_or(""));
  return CommandResult{*status, text.value_or("")};
}

Status ScenarioRunner::act(const Step& step, const Run& run) {
  return wait_until_empty(step.within, [&]() -> std::string {
    const auto result = run_command(run.command, step.within);
    if (!result) return result.error().message();
    if (!run.prints) return result->status == 0 ? "" : fmt::format("status {}: {}", result->status, result->output);
    std::istringstream lines(result->output);
    for (std::string line; std::getline(lines, line);) {
      if (std::regex_search(line, *run.prints)) return "";
    }
    return fmt::format("output:\n{}expected a line that matches {}", result->output, run.pattern);
  });
}

Status ScenarioRunner::act(const Step&, const Remember& remember) {
  ASSIGN_OR_RETURN(const auto objects, find(remember.target));
  std::vector<Json>& values = saved_[remember.name];
  values.clear();
  for (const Json& object : objects) {
    for (Json& value : remember.field.values(object)) values.push_back(std::move(value));
  }
  if (values.empty()) return Error::not_found("{}: no values found", remember.target.text);
  return {};
}

Status ScenarioRunner::act(const Step& step, const Expect& expect) {
  return wait_until_empty(step.within, [&]() -> std::string {
    const auto objects = find(expect.target);
    return objects ? mismatch(expect.expectation, *objects, saved_) : objects.error().message();
  });
}

}  // namespace tpuslice::e2e

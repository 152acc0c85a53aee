// What a Player does for each kind of step.
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "api/sim/cluster/kubelet.h"
#include "tests/e2e/runner/player.h"

namespace tpuslice::e2e {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManager = "kubectl";

ObjectKey key_in(const ResourceType& type, const std::string& space, const std::string& name) {
  return {type.namespaced ? space : "", name};
}

std::string name_in(const Json& object) { return string_at(object, {"metadata", "name"}); }

}  // namespace

Status Player::act(const Step&, const Apply& apply) {
  for (const Json& object : apply.objects) {
    ASSIGN_OR_RETURN(const ResourceType type,
                     kinds_.of_kind(string_at(object, {"apiVersion"}), string_at(object, {"kind"})));
    const auto applied = world_.client().patch(type, key_in(type, space_, name_in(object)), client::PatchType::kApply,
                                               object, {.force = true, .field_manager = kManager});
    if (!applied) return applied.error();
  }
  return {};
}

Status Player::act(const Step&, const Patch& patch) {
  ASSIGN_OR_RETURN(const ResourceType type, type_of(patch.target));
  const auto kind = patch.body.is_array() ? client::PatchType::kJson : client::PatchType::kMerge;
  const auto patched = world_.client().patch(type, key_in(type, space_, patch.target.name), kind, patch.body,
                                             {.field_manager = kManager});
  if (!patched) return patched.error();
  return {};
}

Status Player::act(const Step&, const Delete& action) {
  ASSIGN_OR_RETURN(const ResourceType type, type_of(action.target));
  ASSIGN_OR_RETURN(const auto objects, find(action.target));
  if (objects.empty()) return Error::not_found("{}: nothing to delete", action.target.text);
  for (const Json& object : objects) {
    RETURN_IF_ERROR(world_.client().remove(type, key_in(type, space_, name_in(object))));
  }
  return {};
}

Status Player::act(const Step&, const FailPods& fail) {
  ASSIGN_OR_RETURN(const auto pods, find(fail.target));
  if (pods.empty()) return Error::not_found("{}: no pod to fail", fail.target.text);
  for (const Json& pod : pods) {
    const auto failed = world_.client().update_status(
        kPods, {space_, name_in(pod)},
        {{"phase", "Failed"}, {"reason", "Evicted"}, {"message", "The node was low on resource: memory."}});
    if (!failed) return failed.error();
  }
  return {};
}

Status Player::mark_node(const std::string& node, const Json& ready) {
  const Json patch = {{"metadata", {{"annotations", {{sim::kNodeReadyAnnotation, ready}}}}}};
  const auto patched = world_.client().patch(kNodes, {{}, node}, client::PatchType::kMerge, patch);
  if (!patched) return patched.error();
  return {};
}

Status Player::act(const Step&, const LoseNodes& lose) {
  ASSIGN_OR_RETURN(const auto pods, find(lose.pods));
  if (pods.empty()) return Error::not_found("{}: no pod", lose.pods.text);
  for (const Json& pod : pods) {
    const std::string node = string_at(pod, {"spec", "nodeName"});
    if (node.empty()) return Error::invalid_argument("pod {} has no node", name_in(pod));
    RETURN_IF_ERROR(mark_node(node, "false"));
    lost_nodes_.insert(node);
  }
  return {};
}

Status Player::act(const Step&, const ReturnNodes&) {
  for (const std::string& node : lost_nodes_) RETURN_IF_ERROR(mark_node(node, nullptr));
  lost_nodes_.clear();
  return {};
}

Status Player::act(const Step&, const Control& control) {
  if (!control.apiserver) return control_operator(control.verb);
  if (control.verb != "start") {
    RETURN_IF_ERROR(check_forbidden());
    world_.kill_apiserver();
    apiserver_away_ = true;
  }
  if (control.verb == "kill") return {};
  RETURN_IF_ERROR(world_.start_apiserver());
  apiserver_away_ = false;
  if (!operator_->running()) return {};
  // One that is just starting forbids everything until it has read all roles, to everybody.
  ASSIGN_OR_RETURN(forbidden_before_, operator_->metric(kRequests, {{"code", "403"}}));
  return {};
}

Status Player::control_operator(const std::string& verb) {
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
    // Its counters go with it.
    RETURN_IF_ERROR(check_forbidden());
    forbidden_before_ = 0;
  }
  if (verb == "stop") return operator_->stop();
  if (verb != "start") operator_->kill();
  if (verb == "kill") return {};
  return operator_->start_again();
}

Result<Player::CommandResult> Player::run_command(const std::string& command, Duration limit) {
  const std::string output = fmt::format("{}/{}.output", world_.dir(), space_);
  std::error_code ignored;
  fs::remove(output, ignored);
  ASSIGN_OR_RETURN(const auto process,
                   testing::Process::start({.program = "/bin/bash",
                                            .args = {"-o", "pipefail", "-c", command},
                                            .log = output,
                                            .env = {{"KUBECONFIG", kubeconfig_}, {"HOME", world_.dir()}}}));
  const auto status = process->wait(limit);
  if (!status) process->kill();
  auto text = testing::read_text_file(output);
  if (!status) return Error::of(ErrorCode::kTimeout, "{}: does not end: {}", command, text.value_or(""));
  return CommandResult{*status, text.value_or("")};
}

Status Player::act(const Step& step, const Run& run) {
  return until(step.within, [&]() -> std::string {
    const auto result = run_command(run.command, step.within);
    if (!result) return result.error().message();
    if (!run.prints) return result->status == 0 ? "" : fmt::format("status {}: {}", result->status, result->output);
    std::istringstream lines(result->output);
    for (std::string line; std::getline(lines, line);) {
      if (std::regex_search(line, *run.prints)) return "";
    }
    return fmt::format("it prints\n{}expected a line with {}", result->output, run.pattern);
  });
}

Status Player::act(const Step&, const Remember& remember) {
  ASSIGN_OR_RETURN(const auto objects, find(remember.target));
  std::vector<Json>& values = memory_[remember.name];
  values.clear();
  for (const Json& object : objects) {
    for (Json& value : remember.field.values(object)) values.push_back(std::move(value));
  }
  if (values.empty()) return Error::not_found("{}: nothing to remember", remember.target.text);
  return {};
}

Status Player::act(const Step& step, const Expect& expect) {
  return until(step.within, [&]() -> std::string {
    const auto objects = find(expect.target);
    return objects ? mismatch(expect.expectation, *objects, memory_) : objects.error().message();
  });
}

}  // namespace tpuslice::e2e

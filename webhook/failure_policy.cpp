#include "webhook/failure_policy.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "webhook/admission_probe.h"
#include "webhook/webhook_configurations.h"

namespace tpuslice::webhook {
namespace {

constexpr std::string_view kFail = "Fail";
constexpr std::string_view kIgnore = "Ignore";

/// Field manager of client::ClientOptions.
constexpr std::string_view kFieldManager = "tpu-slice-operator";

/// Steps in succession. After an installation the API servers need a moment for the CA and the endpoints.
constexpr int kReportAfter = 5;

Json start_patch(const Object& configuration) {
  return Json::array(
      {{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", configuration.resource_version()}}});
}

/// Members from an entry of managedFields to the field.
std::array<std::string, 4> field_path() {
  return {"fieldsV1", "f:webhooks", fmt::format(R"(k:{{"name":"{}"}})", kPodWebhook), "f:failurePolicy"};
}

/// The JSON pointer, below an entry of managedFields, of what must be removed so that the field is not owned: the field
/// or the outermost member that has nothing else, since an empty member would be owned itself. "" is the whole entry,
/// no value: the field is not owned.
std::optional<std::string> owned_part(const Json& entry) {
  const auto path = field_path();
  std::string pointer;
  std::string part;  // Up to the outermost member that has nothing else.
  bool alone = true;
  const Json* node = &entry;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (!node->is_object()) return std::nullopt;
    const auto found = node->find(path[i]);
    if (found == node->end()) return std::nullopt;
    if (i > 0 && node->size() > 1) alone = false;
    pointer += "/" + path[i];
    if (i > 0 && node->size() > 1) part = pointer;
    node = &*found;
  }
  return alone ? std::string() : part;
}

}  // namespace

Result<std::optional<FailurePolicyState>> read_failure_policy(const Object& configuration) {
  std::optional<FailurePolicyState> state;
  bool has_probe = false;
  const Json& webhooks = array_at(configuration.json(), {"webhooks"});
  for (std::size_t index = 0; index < webhooks.size(); ++index) {
    const std::string name = string_at(webhooks[index], {"name"});
    has_probe = has_probe || name == kProbeWebhook;
    if (name != kPodWebhook) continue;
    state.emplace();
    state->index = index;
    state->current = string_at(webhooks[index], {"failurePolicy"}, kFail);
  }
  if (!state) return state;
  state->has_probe = has_probe;
  state->wanted = configuration.annotation(kFailurePolicyAnnotation);
  if (state->wanted.empty()) state->wanted = kFail;
  if (state->wanted != kFail && state->wanted != kIgnore) {
    return Error::invalid_argument("metadata.annotations[{}]: found \"{}\", expected Fail or Ignore",
                                   kFailurePolicyAnnotation, state->wanted);
  }
  return state;
}

Json failure_policy_patch(const Object& configuration, const FailurePolicyState& state) {
  Json patch = start_patch(configuration);
  patch.push_back(
      {{"op", "add"}, {"path", fmt::format("/webhooks/{}/failurePolicy", state.index)}, {"value", state.wanted}});
  return patch;
}

Json disown_patch(const Object& configuration, std::string_view field_manager) {
  Json patch = start_patch(configuration);
  const Json& entries = array_at(configuration.json(), {"metadata", "managedFields"});
  // From the last one, since each removal shifts the indexes after it.
  for (std::size_t i = entries.size(); i-- > 0;) {
    if (string_at(entries[i], {"manager"}) != field_manager || string_at(entries[i], {"operation"}) != "Update") {
      continue;
    }
    const std::optional<std::string> part = owned_part(entries[i]);
    if (part) patch.push_back({{"op", "remove"}, {"path", fmt::format("/metadata/managedFields/{}{}", i, *part)}});
  }
  return patch.size() > 1 ? patch : Json::array();
}

FailurePolicyPatcher::FailurePolicyPatcher(FailurePolicyOptions options, client::Reader& reader, client::Writer& writer,
                                           Metrics& metrics, Logger log)
    : options_(std::move(options)),
      reader_(reader),
      writer_(writer),
      log_(std::move(log)),
      fail_(metrics.gauge("tpuslice_webhook_failure_policy",
                          "1 for the failurePolicy that the webhook of pods with TPUs has.",
                          {{"policy", std::string(kFail)}})),
      ignore_(metrics.gauge("tpuslice_webhook_failure_policy",
                            "1 for the failurePolicy that the webhook of pods with TPUs has.",
                            {{"policy", std::string(kIgnore)}})),
      retry_(options_.retry) {
  publish({});
}

Duration FailurePolicyPatcher::step(bool serves, const std::stop_token& stop) {
  const Result<std::string> left = reconcile(serves, stop);
  if (stop.stop_requested()) return options_.check;
  const std::string problem = left ? *left : left.error().message();
  {
    const MutexLock lock(mutex_);
    problem_ = problem;
  }
  if (problem.empty()) {
    failed_ = 0;
    reported_.clear();
    retry_ = options_.retry;
    return options_.check;
  }
  if (++failed_ >= kReportAfter && problem != reported_) {
    reported_ = problem;
    log_.warn("failurePolicy not set", {{"webhook", kPodWebhook}, {"why", problem}});
  }
  const bool forbidden = !left && left.error().code() == ErrorCode::kForbidden;
  if (forbidden && failed_ >= kReportAfter) return options_.check_forbidden;
  return std::exchange(retry_, std::min(2 * retry_, options_.check));
}

std::string FailurePolicyPatcher::problem() const {
  const MutexLock lock(mutex_);
  return problem_;
}

Result<std::string> FailurePolicyPatcher::reconcile(bool serves, const std::stop_token& stop) {
  const auto configuration = reader_.get(kMutatingConfigurations, {{}, std::string(kConfigurationName)}, stop);
  if (!configuration && configuration.error().code() != ErrorCode::kNotFound) return configuration.error();
  if (!configuration) {
    publish({});
    return fmt::format("there is no MutatingWebhookConfiguration {}", kConfigurationName);
  }
  ASSIGN_OR_RETURN(const std::optional<FailurePolicyState> state, read_failure_policy(*configuration));
  publish(state ? state->current : std::string());
  if (!state) return fmt::format("MutatingWebhookConfiguration {} has no webhook {}", kConfigurationName, kPodWebhook);
  if (state->current == state->wanted) {
    RETURN_IF_ERROR(give_up_field(*configuration, stop));
    return std::string();
  }
  if (state->wanted == kFail) {
    if (!serves) return std::string("this replica does not serve");
    if (!state->has_probe) {
      return fmt::format(
          "MutatingWebhookConfiguration {} has no webhook {}, by which the operator finds out whether the API server "
          "reaches it",
          kConfigurationName, kProbeWebhook);
    }
    ASSIGN_OR_RETURN(const bool reached, is_reached(stop));
    if (!reached) {
      return std::string("the API server does not reach the webhook; pods with TPUs are admitted without it");
    }
  }
  ASSIGN_OR_RETURN(const Object written, patch(failure_policy_patch(*configuration, *state), stop));
  publish(state->wanted);
  log_.info("failurePolicy set", {{"webhook", kPodWebhook}, {"from", state->current}, {"to", state->wanted}});
  RETURN_IF_ERROR(give_up_field(written, stop));
  return std::string();
}

Result<bool> FailurePolicyPatcher::is_reached(const std::stop_token& stop) {
  client::CreateOptions options;
  options.dry_run = true;
  ASSIGN_OR_RETURN(const Object created, writer_.create(kLeases, probe_object(options_.namespace_name), options, stop));
  return !created.annotation(kReachedAnnotation).empty();
}

Result<Object> FailurePolicyPatcher::patch(const Json& operations, const std::stop_token& stop) {
  return writer_.patch(kMutatingConfigurations, {{}, std::string(kConfigurationName)}, client::PatchType::kJson,
                       operations, {}, stop);
}

Status FailurePolicyPatcher::give_up_field(const Object& configuration, const std::stop_token& stop) {
  const Json operations = disown_patch(configuration, kFieldManager);
  if (operations.empty()) return {};
  const auto written = patch(operations, stop);
  if (!written) return written.error();
  return {};
}

void FailurePolicyPatcher::publish(std::string_view policy) {
  fail_.set(policy == kFail ? 1 : 0);
  ignore_.set(policy == kIgnore ? 1 : 0);
}

}  // namespace tpuslice::webhook

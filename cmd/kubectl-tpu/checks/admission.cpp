// Checks of admission: whether the webhook is called, and which pods it has not seen.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cmd/kubectl-tpu/checks/installation.h"
#include "cmd/kubectl-tpu/workload_pods.h"
#include "tpu/labels.h"

namespace tpuslice::plugin {
namespace {

constexpr int kMaxPages = 20;  ///< Pages of pods that are read.
constexpr std::int64_t kPageSize = 500;
constexpr std::size_t kMaxNamed = 3;

/// A pod with one chip, on any node.
Json probe_pod(const std::string& namespace_name) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", "tpu-slice-check"}, {"namespace", namespace_name}}},
          {"spec",
           {{"restartPolicy", "Never"},
            {"containers", Json::array({{{"name", "check"},
                                         {"image", "registry.k8s.io/pause:3.10.1"},
                                         {"resources", {{"limits", {{tpu::kTpuResource, "1"}}}}}}})}}}};
}

/// Whether the pod still runs, or waits.
bool is_current(const Json& pod) {
  const std::string phase = string_at(pod, {"status", "phase"});
  return phase != "Succeeded" && phase != "Failed";
}

}  // namespace

Finding check_webhook_call(const CheckInput& input) {
  const std::string check = "webhook call";
  const auto created = input.api.create(kPods, Object(probe_pod(input.namespace_name)), {.dry_run = true}, input.stop);
  const std::string logs = "kubectl -n " + input.operator_namespace + " get endpointslices";
  if (!created && created.error().message().find("calling webhook") != std::string::npos) {
    return {check, Verdict::kFailure, created.error().message(), logs};
  }
  // A refusal of its own also shows that it is reached.
  if (!created && created.error().message().find(tpu::kAnnotationPrefix) != std::string::npos) {
    return {check, Verdict::kOk, "reached: it refuses the pod of the check: " + created.error().message()};
  }
  if (!created) return finding_of(check, created.error(), Verdict::kUnknown);
  if (created->label(tpu::kSlice).empty()) {
    return {check, Verdict::kFailure,
            fmt::format("not called for a TPU pod in namespace {}: it gets no identity", input.namespace_name), logs};
  }
  return {check, Verdict::kOk, fmt::format("reached by a dry run in namespace {}", input.namespace_name)};
}

Finding check_pods(const CheckInput& input) {
  const std::string check = "pods";
  client::ListOptions options{.label_selector = fmt::format("!{}", tpu::kSlice), .limit = kPageSize};
  std::size_t read = 0;
  std::size_t without = 0;
  std::string names;
  for (int page = 0; page < kMaxPages; ++page) {
    const auto pods = input.api.list(kPods, options, input.stop);
    if (!pods) return finding_of(check, pods.error(), Verdict::kUnknown);
    for (const std::string& item : pods->items) {
      ++read;
      const auto pod = parse_json(item);
      if (!pod || tpu_containers_of(*pod).empty() || !is_current(*pod)) continue;
      if (without++ < kMaxNamed) names += (names.empty() ? "" : ", ") + Object(*pod).key().to_string();
    }
    options.continue_token = pods->continue_token;
    if (options.continue_token.empty()) break;
  }
  const std::string of = options.continue_token.empty() ? "" : fmt::format(" (of the first {} pods)", read);
  if (without == 0) return {check, Verdict::kOk, "all TPU pods were seen by admission" + of};
  return {check, Verdict::kWarning,
          fmt::format("{} TPU pods without label {}{}: {}{}; they run, but without identity", without, tpu::kSlice, of,
                      names, without > kMaxNamed ? ", ..." : ""),
          fmt::format("kubectl get pods -A -l '!{}'", tpu::kSlice)};
}

}  // namespace tpuslice::plugin

#include "controllers/drain/drain.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "api/base/pause.h"
#include "api/base/strings.h"
#include "controllers/drain/selection.h"
#include "tpu/labels.h"

namespace tpuslice::drain {
namespace {

constexpr std::string_view kAdmission = "admissionregistration.k8s.io";
constexpr ResourceType kMutatingConfiguration{kAdmission, "v1", "MutatingWebhookConfiguration",
                                              "mutatingwebhookconfigurations", false};
/// The configurations in the order of deletion. The policy lets only the operator and system:masters remove the gate;
/// others may drain, too.
constexpr std::array kConfigurations = {
    kMutatingConfiguration,
    ResourceType{kAdmission, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false},
    ResourceType{kAdmission, "v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", false},
    ResourceType{kAdmission, "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", false},
};

std::string kubectl(const std::string& namespace_name, std::string_view rest) {
  return namespace_name.empty() ? fmt::format("kubectl {}", rest)
                                : fmt::format("kubectl -n {} {}", namespace_name, rest);
}

std::string merge_command(const ResourceType& type, const Holder& holder, const Json& patch) {
  return kubectl(holder.key.namespace_name,
                 fmt::format("patch {} {} --type=merge -p '{}'", type.resource(), holder.key.name, patch.dump()));
}

std::string name_of(const ResourceType& type, const ObjectKey& key) {
  return fmt::format("{} {}", to_lower(type.kind), key.to_string());
}

/// The slices in the order of their oldest pods, the pods of each together.
void sort_by_slice(std::vector<Holder>& pods) {
  using Slice = std::pair<std::string, std::string>;
  const auto slice_of = [](const Holder& pod) { return Slice(pod.key.namespace_name, pod.slice); };
  std::map<Slice, std::string> oldest;
  for (const Holder& pod : pods) {
    const auto [known, is_new] = oldest.emplace(slice_of(pod), pod.created);
    if (!is_new) known->second = std::min(known->second, pod.created);
  }
  std::ranges::sort(pods, {}, [&](const Holder& pod) {
    const Slice slice = slice_of(pod);
    return std::tuple(oldest.at(slice), slice, pod.key.name);
  });
}

std::size_t number_of_slices(const std::vector<Holder>& pods) {
  std::set<std::pair<std::string, std::string>> slices;
  for (const Holder& pod : pods) slices.emplace(pod.key.namespace_name, pod.slice);
  return slices.size();
}

Json patch_of_template(const Holder& holder) { return template_patch(holder.kept); }

/// A pod for dry-run creates. Accepted in a namespace that enforces the Pod Security Standard "restricted".
Json probe_pod(const std::string& namespace_name) {
  const Json container = {
      {"name", "probe"},
      {"image", "probe"},
      {"securityContext", {{"allowPrivilegeEscalation", false}, {"capabilities", {{"drop", Json::array({"ALL"})}}}}}};
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"generateName", "tpu-slice-drain-probe-"}, {"namespace", namespace_name}}},
          {"spec",
           {{"schedulingGates", Json::array({{{"name", tpu::kSliceGate}}})},
            {"securityContext",
             {{"runAsNonRoot", true}, {"runAsUser", 65532}, {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
            {"containers", Json::array({container})}}}};
}

}  // namespace

Json pod_patch(const Json& kept) {
  return {{"metadata", {{"annotations", {{tpu::kWaiting, nullptr}, {tpu::kWaitingReason, nullptr}}}}},
          {"spec", {{"schedulingGates", kept}}}};
}

Json template_patch(const Json& kept) {
  const Json pod = {{"metadata", {{"annotations", {{tpu::kMutatedBy, nullptr}}}}},
                    {"spec", {{"schedulingGates", kept}}}};
  return {{"spec", {{"template", pod}}}};
}

Report Drain::run(const std::stop_token& stop) {
  report_ = {};
  report_.dry_run = options_.steps.dry_run;
  if (!delete_configurations(stop)) return report_;
  const Instant settled = api_.clock.now() + options_.settle;
  open_job_templates(stop);
  open_stateful_set_templates(stop);
  open_pods(settled, stop);
  delete_scouts(stop);
  for (const FinalizerKind& kind : options_.finalizers) remove_finalizers(kind, stop);
  report_running_jobs(stop);
  return report_;
}

Status Drain::delete_configuration(const ResourceType& type, const std::stop_token& stop) {
  const ObjectKey key{{}, options_.configuration};
  Status done = retry(
      options_.steps,
      [&]() -> Status {
        if (!options_.steps.dry_run) return api_.writer.remove(type, key, {}, stop);
        const auto found = api_.reader.get(type, key, stop);
        return found ? Status() : Status(found.error());
      },
      stop);
  if (done) report_.configurations.push_back(fmt::format("{} {}", type.kind, key.name));
  // This is also the code if the API server does not know the type.
  if (!done && done.error().code() == ErrorCode::kNotFound) return {};
  return done;
}

bool Drain::delete_configurations(const std::stop_token& stop) {
  for (const ResourceType& type : kConfigurations) {
    const Status deleted = delete_configuration(type, stop);
    if (deleted) continue;
    const bool mutating = type == kMutatingConfiguration;
    report_.remaining.push_back(
        {fmt::format("{} {}: {}{}", type.kind, options_.configuration, deleted.error().message(),
                     mutating ? "; nothing else was done, since new pods would get the gate. Drain again after" : ""),
         fmt::format("kubectl delete {} {}", type.resource(), options_.configuration)});
    if (mutating) return false;
  }
  return true;
}

Status Drain::merge(const ResourceType& type, const Holder& holder, const Json& patch, const std::stop_token& stop) {
  client::PatchOptions options;
  options.uid = holder.uid;
  options.resource_version = holder.resource_version;
  options.answer = client::Answer::kMetadataOnly;
  const auto patched = api_.writer.patch(type, holder.key, client::PatchType::kMerge, patch, options, stop);
  return patched ? Status() : Status(patched.error());
}

void Drain::add_error(const Error& error) {
  if (error.code() == ErrorCode::kNotFound) return;  // The kind is not installed.
  add_remaining({error.message(), {}});
}

void Drain::add_remaining(Remaining remaining) {
  const auto known = std::ranges::find(report_.remaining, remaining.what, &Remaining::what);
  if (known == report_.remaining.end()) report_.remaining.push_back(std::move(remaining));
}

Result<std::vector<Holder>> Drain::find(const ResourceType& type, const client::ListOptions& list,
                                        const std::function<std::optional<Holder>(const Object&)>& select,
                                        const std::stop_token& stop) {
  const auto unreadable = [&](const Object& object) {
    const ObjectKey key = object.key();
    add_remaining(
        {fmt::format("{}: is too long to be read; remove the gate {} or our finalizers by hand, if it has any",
                     name_of(type, key), tpu::kSliceGate),
         kubectl(key.namespace_name, fmt::format("edit {} {}", type.resource(), key.name))});
  };
  return find_holders(api_, options_.steps, {type, list, select, unreadable}, stop);
}

void Drain::add_remaining(const ResourceType& type, const StepResult& result,
                          const std::function<Json(const Holder&)>& patch) {
  if (result.error) add_error(*result.error);
  for (const auto& [holder, error] : result.failed) {
    report_.remaining.push_back({fmt::format("{}: {}", name_of(type, holder.key), error.message()),
                                 merge_command(type, holder, patch(holder))});
  }
}

Status Drain::open_job_template(const Holder& job, const std::stop_token& stop) {
  Status changed = merge(kJobs, job, template_patch(job.kept), stop);
  if (changed || !job.started || changed.error().code() != ErrorCode::kInvalid) return changed;
  // Before Kubernetes 1.36 the template of a suspended Job is immutable until its start time is cleared.
  client::PatchOptions options;
  options.uid = job.uid;
  options.resource_version = job.resource_version;
  const auto cleared = api_.writer.update_status(kJobs, job.key, {{"startTime", nullptr}}, options, stop);
  if (!cleared) return cleared.error();
  Holder now = job;
  now.resource_version = cleared->resource_version();
  return merge(kJobs, now, template_patch(job.kept), stop);
}

void Drain::open_job_templates(const std::stop_token& stop) {
  const Step step{"templates of suspended Jobs", [&] { return find(kJobs, {}, suspended_job_with_gate, stop); },
                  [&](const Holder& job) { return open_job_template(job, stop); }};
  const StepResult result = run_step(api_, options_.steps, step, stop);
  report_.templates = count_by_namespace(result.released);
  add_remaining(kJobs, result, patch_of_template);
}

void Drain::open_stateful_set_templates(const std::stop_token& stop) {
  const Step step{"templates of StatefulSets", [&] { return find(kStatefulSets, {}, idle_set_with_gate, stop); },
                  [&](const Holder& set) { return merge(kStatefulSets, set, template_patch(set.kept), stop); }};
  const StepResult result = run_step(api_, options_.steps, step, stop);
  for (const auto& [name, count] : count_by_namespace(result.released)) report_.templates[name] += count;
  add_remaining(kStatefulSets, result, patch_of_template);

  const auto rolling = find(kStatefulSets, {}, rolling_set_with_gate, stop);
  if (!rolling) return add_error(rolling.error());
  for (const Holder& set : *rolling) {
    report_.remaining.push_back({fmt::format("{}: its pod template has the gate; changing it restarts its pods",
                                             name_of(kStatefulSets, set.key)),
                                 merge_command(kStatefulSets, set, template_patch(set.kept))});
  }
}

void Drain::open_pods(Instant until, const std::stop_token& stop) {
  // A gated pod has no node. Gates that users wrote themselves count, so there is no label selector.
  const client::ListOptions without_node{.field_selector = "spec.nodeName="};
  const Step step{"gates of pods",
                  [&]() -> Result<std::vector<Holder>> {
                    ASSIGN_OR_RETURN(std::vector<Holder> pods, find(kPods, without_node, gated_pod, stop));
                    sort_by_slice(pods);
                    return pods;
                  },
                  [&](const Holder& pod) { return merge(kPods, pod, pod_patch(pod.kept), stop); }, until};
  const StepResult result = run_step(api_, options_.steps, step, stop);
  report_.pods = count_by_namespace(result.released);
  report_.slices = number_of_slices(result.released);
  add_remaining(kPods, result, [](const Holder& pod) { return pod_patch(pod.kept); });
}

void Drain::delete_scouts(const std::stop_token& stop) {
  const client::ListOptions scouts{.namespace_name = options_.namespace_name,
                                   .label_selector = fmt::format("{}={}", tpu::kSlice, tpu::kNoSlice)};
  const Step step{"scout pods", [&] { return find(kPods, scouts, scout_pod, stop); },
                  [&](const Holder& pod) { return api_.writer.remove(kPods, pod.key, {.uid = pod.uid}, stop); }};
  const StepResult result = run_step(api_, options_.steps, step, stop);
  report_.scouts = count_by_namespace(result.released);
  for (const auto& [pod, error] : result.failed) {
    report_.remaining.push_back({fmt::format("scout {}: {}", name_of(kPods, pod.key), error.message()),
                                 kubectl(pod.key.namespace_name, fmt::format("delete pod {}", pod.key.name))});
  }
  if (result.error) add_error(*result.error);
}

void Drain::remove_finalizers(const FinalizerKind& kind, const std::stop_token& stop) {
  const auto patch = [](const Holder& holder) { return Json{{"metadata", {{"finalizers", holder.kept}}}}; };
  const std::vector<std::string> all = {""};
  const auto find_kind = [&](bool keeps) -> Result<std::vector<Holder>> {
    const auto select = [&](const Object& object) -> std::optional<Holder> {
      std::optional<Holder> holder = object_with_finalizer(object, kind.finalizer);
      if (holder && (holder->terminating && kind.keep_on_terminating) != keeps) return std::nullopt;
      return holder;
    };
    std::vector<Holder> holders;
    for (const std::string& each : options_.watch_namespaces.empty() ? all : options_.watch_namespaces) {
      ASSIGN_OR_RETURN(std::vector<Holder> found, find(kind.type, {.namespace_name = each}, select, stop));
      std::ranges::move(found, std::back_inserter(holders));
    }
    return holders;
  };
  const Step step{fmt::format("finalizers of {}", kind.type.plural), [&] { return find_kind(false); },
                  [&](const Holder& holder) { return merge(kind.type, holder, patch(holder), stop); }};
  const StepResult result = run_step(api_, options_.steps, step, stop);
  for (const auto& [name, count] : count_by_namespace(result.released)) report_.finalizers[name] += count;
  add_remaining(kind.type, result, patch);
  const auto kept = find_kind(true);
  if (!kept) return add_error(kept.error());
  for (const Holder& holder : *kept) {
    report_.remaining.push_back(
        {fmt::format("{}: is being deleted, and {} waits for a cleanup that only its controller does; without it",
                     name_of(kind.type, holder.key), kind.finalizer),
         merge_command(kind.type, holder, patch(holder))});
  }
}

bool Drain::new_pods_lose_the_gate(const std::stop_token& stop) {
  const Object pod(probe_pod(options_.namespace_name));
  const int attempts = options_.steps.dry_run ? 1 : options_.steps.max_attempts;
  for (int attempt = 0; attempt < attempts && !stop.stop_requested(); ++attempt) {
    // API servers learn of a new policy a moment after it was created.
    if (attempt > 0) pause(options_.steps.retry, stop);
    const auto accepted = api_.writer.create(kPods, pod, {.dry_run = true}, stop);
    if (accepted && !gated_pod(*accepted)) return true;
    if (!accepted) api_.log.warn("dry-run create of a pod failed", {{"error", accepted.error().message()}});
  }
  return false;
}

void Drain::report_running_jobs(const std::stop_token& stop) {
  const auto jobs = find(kJobs, {}, running_job_with_gate, stop);
  if (!jobs) return add_error(jobs.error());
  if (jobs->empty()) return;
  if (new_pods_lose_the_gate(stop)) {
    report_.notes.push_back(fmt::format(
        "{} running Jobs have the gate in their pod templates; an admission policy removes it from their new "
        "pods: delete the policy of deploy/drain/gate-policy.yaml when these Jobs have ended",
        jobs->size()));
    return;
  }
  for (const Holder& job : *jobs) {
    report_.remaining.push_back(
        {fmt::format(
             "{}: runs, so the gate in its pod template cannot be removed: its pods run on, but a pod that "
             "replaces one of them would never start. Apply the policy of deploy/drain/gate-policy.yaml, which "
             "needs Kubernetes 1.36, and drain again; or delete the Job, so that its controller creates it again",
             name_of(kJobs, job.key)),
         kubectl(job.key.namespace_name, fmt::format("delete job {}", job.key.name))});
  }
}

}  // namespace tpuslice::drain

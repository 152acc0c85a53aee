#include "controllers/rayjob/submitter.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "controllers/plan/child.h"
#include "controllers/ray/dashboard.h"
#include "controllers/raycluster/pods/environment.h"
#include "controllers/raycluster/pods/token_auth.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayjob/dashboard_address.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/submission.h"
#include "controllers/rayjob/submitter_script.h"

namespace tpuslice::rayjob {
namespace {

using raycluster::RayClusterSpec;

/// Kubernetes expands "$(NAME)" in values of variables, and "$$" is a dollar sign.
std::string without_expansion(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '$') out += c;
  }
  return out;
}

Json head_pod(const RayClusterSpec& cluster) {
  return cluster.head.pod_template == nullptr ? Json::object() : *cluster.head.pod_template;
}

Result<Json> default_container(const RayClusterSpec& cluster) {
  const Json head = head_pod(cluster);
  const std::string image = string_at(head, {"spec", "containers", "0", "image"});
  if (image.empty()) return Error::invalid_argument("the head of RayCluster {} has no image", cluster.key.name);
  Json out = {{"name", kSubmitterContainer},
              {"image", image},
              {"resources",
               {{"requests", {{"cpu", "500m"}, {"memory", "200Mi"}}}, {"limits", {{"cpu", "1"}, {"memory", "1Gi"}}}}}};
  const std::string policy = string_at(head, {"spec", "containers", "0", "imagePullPolicy"});
  if (!policy.empty()) out["imagePullPolicy"] = policy;
  return out;
}

Json default_pod(const RayClusterSpec& cluster) {
  Json out = Json::object();
  // The image may be from a private registry.
  const Json head = head_pod(cluster);
  const Json& secrets = array_at(head, {"spec", "imagePullSecrets"});
  if (!secrets.empty()) out["spec"]["imagePullSecrets"] = secrets;
  return out;
}

bool has_command(const Json& container) { return !array_at(container, {"command"}).empty(); }

/// Adds command and environment. Names and values of the variables that upstream has are upstream's.
Status complete_container(const RayJobState& state, const RayClusterSpec& cluster, const std::string& address,
                          Json& container) {
  if (!has_command(container)) {
    ASSIGN_OR_RETURN(const Json submission, build_submission(state.spec, state.status.job_id));
    container["command"] = {"python3", "-c", kSubmitterScript};
    container.erase("args");
    raycluster::add_variable(container,
                             {{"name", kSubmissionVariable}, {"value", without_expansion(submission.dump())}});
  }
  raycluster::add_variable(container, {{"name", "PYTHONUNBUFFERED"}, {"value", "1"}});
  raycluster::add_variable(container, {{"name", "RAY_DASHBOARD_ADDRESS"}, {"value", address}});
  raycluster::add_variable(container, {{"name", "RAY_JOB_SUBMISSION_ID"}, {"value", state.status.job_id}});
  if (cluster.auth.token && !cluster.auth.service_accounts) raycluster::add_token_auth(cluster, container);
  return {};
}

Json origin_labels(const RayJobSpec& spec) {
  Json labels = Json::object();
  raycluster::set_label(labels, raycluster::kOriginatedFromCrName, spec.key.name);
  raycluster::set_label(labels, raycluster::kOriginatedFromCrd, kRayJobs.kind);
  raycluster::set_label(labels, raycluster::kCreatedBy, raycluster::kOperator);
  return labels;
}

Result<Json> pod_template(const RayJobState& state, const RayClusterSpec& cluster) {
  Json pod = state.spec.submitter_template == nullptr ? default_pod(cluster) : *state.spec.submitter_template;
  const Json labels = origin_labels(state.spec);
  for (const auto& [key, value] : labels.items()) pod["metadata"]["labels"][key] = value;
  if (array_at(pod, {"spec", "containers"}).empty()) {
    ASSIGN_OR_RETURN(Json container, default_container(cluster));
    pod["spec"]["containers"] = Json::array({std::move(container)});
  }
  if (string_at(pod, {"spec", "restartPolicy"}).empty()) pod["spec"]["restartPolicy"] = "Never";
  return pod;
}

/// "pod train-x7k2p: container ray-job-submitter: StartError, exit code 128: ...", of the latest pod with a container
/// that cannot start or has failed; empty without one.
std::string container_problem(const std::vector<std::shared_ptr<const PodView>>& pods) {
  const PodView* latest = nullptr;
  for (const auto& pod : pods) {
    if (pod->stuck.empty() && pod->failure.empty()) continue;
    if (latest == nullptr || pod->created > latest->created) latest = pod.get();
  }
  if (latest == nullptr) return {};
  return fmt::format("pod {}: {}", latest->key.name, latest->stuck.empty() ? latest->failure : latest->stuck);
}

SubmitterState job_state(const RayJobState& state) {
  using Kind = SubmitterState::Kind;
  if (!state.owns_submitter()) return {Kind::kMissing};
  const JobView& job = *state.seen.submitter;
  if (job.condition("Complete") != nullptr) return {Kind::kSucceeded};
  if (const JobCondition* failed = job.condition("Failed"); failed != nullptr) {
    const std::string container = container_problem(state.seen.submitter_pods);
    return {Kind::kAborted, fmt::format("Reason: {}. Message: {}{}", failed->reason, failed->message,
                                        container.empty() ? "" : "; " + container)};
  }
  if (job.deleting()) return {Kind::kMissing};
  return {Kind::kActive, container_problem(state.seen.submitter_pods)};
}

constexpr std::string_view kHeadNotFound = "Ray head pod not found";

/// The Ray container of the head if it has terminated, else null. The cluster is usable.
const ContainerView* ended_ray(const RayJobState& state, const PodView& head) {
  const Object object = state.usable_cluster()->object();
  const std::string ray = RayClusterSpec::read(object).head.ray_container();
  const auto found = std::ranges::find_if(head.containers, [&](const ContainerView& each) { return each.name == ray; });
  return found != head.containers.end() && found->terminated ? &*found : nullptr;
}

std::string in_parentheses(const std::string& failure) { return failure.empty() ? "" : " (" + failure + ")"; }

SubmitterState sidecar_state(const RayJobState& state) {
  using Kind = SubmitterState::Kind;
  const PodView* head = find_head(state.seen);
  if (head == nullptr) return {Kind::kHeadLost, std::string(kHeadNotFound)};
  const auto found = std::ranges::find(head->containers, kSubmitterContainer, &ContainerView::name);
  if (found == head->containers.end() || !found->terminated) {
    if (!head->finished()) return {Kind::kActive};
    return {Kind::kHeadLost, fmt::format("Ray head pod {} has ended{}", head->key.name, in_parentheses(head->cause()))};
  }
  if (found->terminated_reason == "Completed") return {Kind::kSucceeded};
  if (const ContainerView* ray = ended_ray(state, *head); ray != nullptr) {
    return {Kind::kHeadLost, fmt::format("the Ray container of head pod {} has terminated{}", head->key.name,
                                         in_parentheses(ray->failure()))};
  }
  return {Kind::kAborted, fmt::format("pod {}: container {}: {}", head->key.name, kSubmitterContainer,
                                      found->exit_code == 0 ? found->terminated_reason.str() : found->failure())};
}

}  // namespace

Result<Object> build_submitter(const RayJobState& state, const Object& cluster) {
  const RayClusterSpec cluster_spec = RayClusterSpec::read(cluster);
  ASSIGN_OR_RETURN(Json pod, pod_template(state, cluster_spec));
  Json& container = pod["spec"]["containers"][0];
  const bool is_ours = !has_command(container);
  RETURN_IF_ERROR(complete_container(state, cluster_spec,
                                     ray::dashboard_host_port(cluster_spec, state.options.cluster_domain), container));
  Json job = {{"backoffLimit", state.spec.submitter_retries}};
  if (is_ours && pod["spec"]["restartPolicy"] == "Never") {
    // No retry after this exit code: another pod would submit a lost job again, or report the same failure again.
    const Json codes = {{"containerName", string_at(container, {"name"})},
                        {"operator", "In"},
                        {"values", Json::array({kJobNotSucceeded})}};
    job["podFailurePolicy"]["rules"] = Json::array({{{"action", "FailJob"}, {"onExitCodes", codes}}});
  }
  job["template"] = std::move(pod);
  return Object({{"apiVersion", kJobs.api_version()},
                 {"kind", kJobs.kind},
                 {"metadata",
                  {{"name", state.spec.key.name},
                   {"namespace", state.spec.key.namespace_name},
                   {"labels", origin_labels(state.spec)},
                   {"ownerReferences", Json::array({state.spec.owner.to_json()})}}},
                 {"spec", std::move(job)}});
}

Status add_sidecar_submitter(const RayJobState& state, Object& cluster) {
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  ASSIGN_OR_RETURN(Json container, default_container(spec));
  RETURN_IF_ERROR(complete_container(state, spec, fmt::format("127.0.0.1:{}", ray::dashboard_port(spec)), container));
  raycluster::set_label(cluster.mutable_json()["metadata"]["annotations"], raycluster::kDisableHeadRestart, "true");
  Json& pod = cluster.mutable_json()["spec"]["headGroupSpec"]["template"]["spec"];
  pod["containers"].push_back(std::move(container));
  pod["restartPolicy"] = "Never";
  return {};
}

SubmitterState submitter_state(const RayJobState& state) {
  if (state.mode == SubmissionMode::kK8sJob) return job_state(state);
  if (state.mode == SubmissionMode::kSidecar) return sidecar_state(state);
  return {};
}

SubmitterDecision decide_submitter(const RayJobState& state) {
  using Kind = SubmitterDecision::Kind;
  const JobView* live = state.seen.submitter.get();
  if (live == nullptr && state.refusal) return {};
  Result<Object> desired = build_submitter(state, state.usable_cluster()->object());
  if (!desired) return {.problem = {"InvalidSpec", desired.error().message()}};
  const std::string name = desired->key().to_string();
  if (state.owns_submitter()) {
    if (!live->deleting()) return {Kind::kExists};
    return {.problem = {"SubmitterPending", fmt::format("job {} is being deleted, and is then created again", name)}};
  }
  if (live == nullptr) {
    const auto& failure = state.seen.last_failure;
    const bool failed = failure && failure->reason == kFailedSubmitter;
    return {.kind = Kind::kCreate,
            .desired = *std::move(desired),
            .problem = failed ? Problem{failure->reason, failure->message}
                              : Problem{"SubmitterPending", fmt::format("job {} is being created", name)}};
  }
  if (plan::ownership(desired->json(), live->controller) == plan::Ownership::kOther) {
    return {.kind = Kind::kConflict,
            .problem = {"ChildConflict", fmt::format("{}: delete it, or rename the RayJob",
                                                     plan::describe_owner(desired->json(), live->controller))},
            .requeue_after = plan::kConflictRetry};
  }
  return {.problem = {"SubmitterPending", fmt::format("job {} of an earlier RayJob is being deleted", name)}};
}

}  // namespace tpuslice::rayjob

#include "tests/laws/rayjob_violations.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "controllers/plan/finalizers.h"
#include "controllers/ray/dashboard.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayjob/head_service.h"
#include "controllers/rayjob/rayjob_state.h"
#include "controllers/rayjob/rules/rayjob_labels.h"

namespace tpuslice::rayjob {
namespace {

using plan::Action;
using plan::ActionKind;

constexpr std::size_t kMaxActions = 3;
constexpr std::size_t kMaxRequests = 3;
/// Without rayClusterStatus, which is the cluster's.
constexpr std::size_t kMaxStatus = 24U << 10U;

/// States by jobDeploymentStatus, each with those that may follow.
const std::map<std::string, std::set<std::string, std::less<>>>& next_states() {
  static const std::map<std::string, std::set<std::string, std::less<>>> kNext{
      {"", {"Initializing", "Suspended", "ValidationFailed"}},
      {"ValidationFailed", {"Initializing", "Suspended"}},
      {"Initializing", {"Waiting", "Running", "Failed", "Retrying", "Suspending"}},
      {"Waiting", {"Running", "Failed", "Suspending"}},
      {"Running", {"Complete", "Failed", "Retrying", "Suspending"}},
      {"Suspending", {"Suspended"}},
      {"Suspended", {"Initializing", "ValidationFailed"}},
      {"Retrying", {"Initializing", "Suspended", "ValidationFailed"}},
      {"Complete", {}},
      {"Failed", {}},
  };
  return kNext;
}

class RayJobChecker {
 public:
  RayJobChecker(const World& world, const plan::Plan& plan)
      : seen_(world.observed()),
        state_(seen_, world.options),
        plan_(plan),
        clusters_(world.cluster_names()),
        before_(state_.status),
        after_(plan.status ? RayJobStatus::read(Object(Json{{"status", plan.status->status}})) : before_) {}

  std::vector<std::string> check() {
    for (const Action& action : actions_of(plan_)) {
      if (action.kind == ActionKind::kCreate) {
        check_create(action);
      } else {
        check_change(action);
      }
    }
    if (actions_of(plan_).size() > kMaxActions) out_.emplace_back("too many actions");
    check_requests();
    check_deployment();
    check_ray_job();
    check_counters();
    check_size();
    return std::move(out_);
  }

 private:
  void add(const Action& action, std::string_view what) {
    out_.push_back(fmt::format("{} {} {}", action.type.kind, action.key.name, what));
  }
  [[nodiscard]] bool is_in(std::initializer_list<std::string_view> deployments) const {
    return std::ranges::find(deployments, before_.deployment) != deployments.end();
  }
  [[nodiscard]] bool is_deleted() const { return seen_.job.deletion_timestamp().has_value(); }

  void check_create(const Action& action) {
    if (is_deleted()) add(action, "is created for a RayJob that is being deleted");
    if (state_.refusal && action.type != kServices) add(action, "is created for a refused spec");
    if (action.type == raycluster::kRayClusters) return check_new_cluster(action);
    if (action.type == kJobs) return check_new_submitter(action);
    if (action.type != kServices || action.key.name != head_service_name(state_.spec)) add(action, "is created");
    if (seen_.service != nullptr) add(action, "is created over another");
  }

  void check_new_cluster(const Action& action) {
    if (state_.spec.selects_cluster) add(action, "is created, but one is selected");
    if (!is_in({kInitializing})) add(action, "is created in state " + before_.deployment);
    if (action.key.name != before_.cluster_name) add(action, "is not the one of the status");
    if (seen_.cluster != nullptr) add(action, "is created over another");
  }

  void check_new_submitter(const Action& action) {
    if (state_.spec.mode != SubmissionMode::kK8sJob) add(action, "is created in another mode");
    if (!is_in({kInitializing, kRunning})) add(action, "is created in state " + before_.deployment);
    if (seen_.submitter != nullptr) add(action, "is created over another");
    if (!before_.job.empty()) add(action, "submits a Ray job that was seen");
    const ObjectView* cluster = state_.usable_cluster();
    if (cluster == nullptr) return add(action, "is created without a cluster");
    const std::string cluster_state = string_at(cluster->object().json(), {"status", "state"});
    if (is_in({kInitializing}) && cluster_state != "ready") add(action, "is created before the cluster is ready");
  }

  /// A patch or delete.
  void check_change(const Action& action) {
    if (action.preconditions.uid.empty()) add(action, "is written without its uid");
    if (!is_ours(action)) add(action, "of another owner is written");
    if (action.kind == ActionKind::kPatch && action.type == kJobs) add(action, "is patched");
    if (action.type == kServices || (action.kind == ActionKind::kPatch && action.type == kRayJobs)) return;
    const bool between = is_in({kSuspending, kRetrying});
    const bool cleans =
        before_.finished() && action.type != kJobs && (state_.spec.shutdown || state_.spec.has_deletion_strategy);
    if (between && action.type != kRayJobs && action.kind == ActionKind::kDelete) return;
    if (!cleans) return add(action, "is deleted in state " + before_.deployment);
    if (!state_.spec.has_deletion_strategy && seen_.now < *before_.ended + state_.spec.ttl) {
      add(action, "is deleted before its time");
    }
  }

  [[nodiscard]] bool is_ours(const Action& action) const {
    if (action.type == raycluster::kRayClusters) return state_.owns_cluster();
    if (action.type == kJobs) return state_.owns_submitter();
    if (action.type == kRayJobs) return action.preconditions.uid == state_.spec.uid;
    return seen_.service != nullptr && seen_.service->controller && seen_.service->controller->uid == state_.spec.uid;
  }

  void check_requests() {
    std::set<std::string> names;
    for (const plan::WorkloadRequest& request : plan_.requests) {
      if (!names.insert(request.name).second) out_.push_back("two requests of one name: " + request.name);
      if (request.name == "stop") {
        const bool failed = before_.deployment == kFailed && !ray::is_terminal(before_.job);
        if (!is_deleted() && !failed) out_.push_back("a Ray job is stopped in state " + before_.deployment);
      } else if (!is_in({kRunning}) || is_deleted()) {
        out_.push_back(fmt::format("{} {} in state {}", request.method, request.target, before_.deployment));
      }
      if (request.name == "submit" && state_.spec.mode != SubmissionMode::kHttp) {
        out_.emplace_back("the operator submits in another mode");
      }
    }
    if (plan_.requests.size() > kMaxRequests) out_.emplace_back("too many requests");
  }

  void check_deployment() {
    const std::string& from = before_.deployment;
    const std::string& to = after_.deployment;
    if (from == to) return;
    if (!next_states().contains(from) || !next_states().at(from).contains(to)) {
      out_.push_back(fmt::format("state {} after {}", to, from));
    }
    if (is_in({kSuspending, kRetrying})) check_nothing_left();
    if (to == kInitializing) {
      if (state_.refusal) out_.emplace_back("an attempt begins with a refused spec");
      if (state_.spec.suspend) out_.emplace_back("an attempt begins while the RayJob is suspended");
      if (clusters_.contains(after_.cluster_name)) out_.emplace_back("two attempts have one cluster name");
      if (!after_.started || after_.cluster_name.empty()) out_.emplace_back("an attempt has no start or no cluster");
    }
    if (to != kRetrying) return;
    if (after_.reason == kDeadlineExceeded || after_.reason == kStatusCheckTimeout) {
      out_.push_back(after_.reason + " is retried");
    }
    if (before_.failed >= state_.spec.backoff_limit) out_.emplace_back("it is retried too often");
  }

  /// The attempt is over.
  void check_nothing_left() {
    if (state_.owns_submitter()) out_.emplace_back("the attempt ends before its submitter is deleted");
    if (state_.spec.selects_cluster) return;
    if (state_.owns_cluster()) out_.emplace_back("the attempt ends before its cluster is deleted");
    if (seen_.cluster == nullptr && !seen_.pods.empty()) out_.emplace_back("the attempt ends before its pods");
  }

  void check_ray_job() {
    if (after_.finished() && !after_.ended) out_.emplace_back("it is finished without endTime");
    if (before_.finished()) {
      Json before = plan::status_of(seen_.job);
      Json after = plan_.status ? plan_.status->status : before;
      for (Json* status : {&before, &after}) {
        for (const char* member : {"conditions", "observedGeneration"}) status->erase(member);
      }
      if (before != after) out_.emplace_back("the status of a finished RayJob changes");
      return;
    }
    if (before_.cluster_name.empty() || after_.cluster_name.empty()) return;
    if (after_.cluster_name != before_.cluster_name || after_.job_id != before_.job_id) {
      const bool retried = before_.deployment == kRetrying;
      const bool named = before_.deployment == kWaiting && after_.cluster_name == before_.cluster_name;
      if (!retried && !named) out_.emplace_back("cluster or Ray job change within an attempt");
      return;
    }
    if (ray::is_terminal(before_.job) && after_.job != before_.job) {
      out_.push_back(fmt::format("a Ray job that was {} is {}", before_.job, after_.job));
    }
    if (!before_.job.empty() && after_.job.empty()) out_.emplace_back("a Ray job that was seen is forgotten");
    if (before_.started != after_.started) out_.emplace_back("startTime changes within an attempt");
  }

  void check_counters() {
    const bool changed = before_.deployment != after_.deployment;
    const bool fails = changed && (after_.deployment == kFailed || after_.deployment == kRetrying);
    if (after_.failed != before_.failed + (fails ? 1 : 0)) out_.push_back(fmt::format("failed is {}", after_.failed));
    const bool succeeds = changed && after_.deployment == kComplete && after_.job == ray::kSucceeded;
    if (after_.succeeded != before_.succeeded + (succeeds ? 1 : 0)) {
      out_.push_back(fmt::format("succeeded is {}", after_.succeeded));
    }
    if (changed && after_.deployment == kComplete && after_.job != ray::kSucceeded && after_.job != ray::kStopped) {
      out_.push_back("Complete with " + after_.job);
    }
  }

  void check_size() {
    if (!plan_.status) return;
    Json own = plan_.status->status;
    own.erase("rayClusterStatus");
    if (own.dump().size() > kMaxStatus) out_.emplace_back("the status is too large");
  }

  const RayJobObserved seen_;
  const RayJobState state_;
  const plan::Plan& plan_;
  const std::set<std::string>& clusters_;  ///< Of all attempts.
  const RayJobStatus before_;
  const RayJobStatus after_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> violations(const World& world, const plan::Plan& plan) {
  return RayJobChecker(world, plan).check();
}

std::vector<std::string> defects_at_rest(const World& world) {
  std::vector<std::string> out;
  const RayJobObserved seen = world.observed();
  const RayJobState state(seen, world.options);
  const RayJobStatus& status = state.status;
  if (!status.finished()) return {"is not finished: " + world.state()};
  if (!plan::has_finalizer(seen.job, kStopFinalizer)) out.emplace_back("has no finalizer");
  if (!is_condition_true(status.conditions, status.deployment)) out.emplace_back("has no condition of its end");
  if (status.deployment == kFailed && status.reason.empty()) out.emplace_back("failed without a reason");
  if (state.spec.shutdown && !state.spec.has_deletion_strategy && state.owns_cluster()) {
    out.emplace_back("its cluster is not deleted");
  }
  if (status.failed + status.succeeded > state.spec.backoff_limit + 3) out.emplace_back("has too many attempts");
  return out;
}

Json summary_of(const World& world) {
  Json out = {{"state", world.state()},
              {"gone", world.gone()},
              {"cluster", !world.cluster().is_null()},
              {"submitter", !world.submitter().is_null()},
              {"service", !world.service().is_null()}};
  Json status = world.status();
  for (const char* member : {"succeeded", "failed"}) out[member] = status[member];
  for (const Json& condition : status["conditions"]) {
    out["conditions"][string_at(condition, {"type"})] = condition["status"];
  }
  return out;
}

std::vector<std::string> SubmissionRecord::check(const World& world, const plan::Plan& plan) const {
  if (world.status("jobDeploymentStatus") != kRunning) return {};
  const bool creates = std::ranges::any_of(actions_of(plan), [](const Action& action) {
    return action.kind == ActionKind::kCreate && action.type == kJobs;
  });
  if (!creates || unknown_.contains("/api/jobs/" + world.job_id())) return {};
  return {"the submitter is created again, but the one before may have submitted"};
}

std::vector<std::string> SubmissionRecord::answer(World& world) {
  // A restarted operator has no answers.
  if (world.observed().answers.last("job") == nullptr) unknown_.clear();
  (void)world.take_requests();
  world.advance();
  const plan::WorkloadAnswers answers = world.observed().answers;
  std::vector<std::string> out;
  bool asked = false;
  bool submitted = false;
  for (const std::string& sent : world.take_requests()) {
    asked = asked || sent.starts_with("GET /api/jobs/");
    if (sent != "POST /api/jobs/") continue;
    const plan::WorkloadRequest& request = answers.last("submit")->request;
    const std::string target = "/api/jobs/" + string_at(parse_json(request.body).value(), {"submission_id"});
    const auto found = unknown_.find(target);
    if (found == unknown_.end() || found->second != request.address) {
      out.push_back(fmt::format("{} is submitted, but may have been submitted before", target));
    }
    submitted = true;
  }
  if (!asked && !submitted) return out;
  unknown_.clear();
  // What was asked in the round of a submission was asked before it.
  const plan::WorkloadAnswer* answer = answers.last("job");
  const bool no_submitter = world.submitter().is_null() || RayJobSpec::read(world.job()).mode == SubmissionMode::kHttp;
  if (!submitted && answer->status == 404 && no_submitter) {
    unknown_[answer->request.target] = answer->request.address;
  }
  return out;
}

}  // namespace tpuslice::rayjob

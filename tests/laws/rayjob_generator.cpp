#include "tests/laws/rayjob_generator.h"

#include <array>
#include <utility>

#include "controllers/ray/dashboard.h"
#include "controllers/rayjob/dashboard_address.h"
#include "controllers/rayjob/rayjob_state.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/submitter.h"

namespace tpuslice::rayjob {
namespace {

using namespace std::chrono_literals;

constexpr int kHosts = 4;

std::string pick(Generator& dice, std::initializer_list<const char*> values) {
  return values.begin()[dice.below(static_cast<int>(values.size()))];
}

Json rule(const char* policy, const char* status, int ttl) {
  return {{"policy", policy}, {"condition", {{"jobStatus", status}, {"ttlSeconds", ttl}}}};
}

void put_cleanup(Generator& dice, bool selects, Json& spec) {
  switch (dice.below(selects ? 2 : 5)) {
    case 0:
      return;
    case 1:
      spec["deletionStrategy"]["deletionRules"] = Json::array({rule("DeleteSelf", "SUCCEEDED", dice.below(3) * 20)});
      return;
    case 2:
      spec["deletionStrategy"]["deletionRules"] =
          Json::array({rule("DeleteWorkers", "FAILED", 0), rule("DeleteCluster", "FAILED", dice.below(3) * 20),
                       rule("DeleteCluster", "SUCCEEDED", 0)});
      return;
    default:
      spec["shutdownAfterJobFinishes"] = true;
      if (dice.chance(50)) spec["ttlSecondsAfterFinished"] = dice.below(3) * 20;
  }
}

/// A submitter of ours ends as the Ray job did.
void end_submitters(const RayJobState& state, const std::string& job, World& world) {
  const bool good = job == ray::kSucceeded;
  if (submitter_state(state).kind != SubmitterState::Kind::kActive) return;
  if (state.spec.mode == SubmissionMode::kSidecar) return world.end_sidecar(good ? "Completed" : "Error");
  world.end_submitter(good ? "Complete" : "Failed");
}

/// Ray does not know the job.
void submit(const RayJobState& state, World& world) {
  const std::string& id = state.status.job_id;
  if (state.spec.mode == SubmissionMode::kHttp || id.empty()) return;
  const bool is_user = state.spec.mode == SubmissionMode::kInteractive;
  if (!is_user && submitter_state(state).kind != SubmitterState::Kind::kActive) return;
  // A submitter does not submit a job again that is lost.
  if (!is_user && world.ray.submissions[id]++ > 0) return end_submitters(state, {}, world);
  world.ray.set_job(id, "RUNNING", "it runs");
}

/// With a usable cluster that has a head.
void progress_job(const RayJobState& state, const std::string& end, World& world) {
  const RayJobStatus& status = state.status;
  if (status.deployment == kWaiting && state.spec.job_id.empty()) return world.patch_spec({{"jobId", "mine"}});
  const auto found = world.ray.jobs.find(status.job_id);
  if (found == world.ray.jobs.end()) return submit(state, world);
  if (ray::is_terminal(found->second.status)) return end_submitters(state, found->second.status, world);
  if (!end.empty()) world.ray.set_job(status.job_id, end, "exit code");
}

}  // namespace

void progress(World& world, const std::string& end) {
  const RayJobObserved seen = world.observed();
  const RayJobState state(seen, world.options);
  if (world.cluster().is_null()) {
    world.delete_pods();
    world.ray.jobs.clear();
    world.ray.submissions.clear();
    const std::string& name = state.status.cluster_name;
    if (state.spec.selects_cluster && !state.status.finished() && !name.empty()) world.add_foreign_cluster(name);
    return;
  }
  if (state.usable_cluster() == nullptr) return;
  if (string_at(world.cluster(), {"status", "state"}) != "ready") return world.start_cluster(kHosts);
  if (find_head(seen) == nullptr) {
    if (state.spec.mode == SubmissionMode::kSidecar) return;  // Is not replaced.
    world.replace_head();
    world.ray.jobs.clear();
    return;
  }
  world.set_workers(kHosts);
  progress_job(state, end, world);
}

Json Generator::job() {
  const std::string mode =
      pick(*this, {"K8sJobMode", "K8sJobMode", "HTTPMode", "HTTPMode", "SidecarMode", "InteractiveMode"});
  const bool selects = mode != "SidecarMode" && chance(15);
  Json spec = {{"submissionMode", mode}};
  if (selects) {
    spec["rayClusterSpec"] = nullptr;
    spec["clusterSelector"] = {{"ray.io/cluster", "shared"}};
  } else if (mode != "InteractiveMode") {
    spec["backoffLimit"] = below(3);
  }
  put_cleanup(*this, selects, spec);
  if (chance(25)) spec["activeDeadlineSeconds"] = 30 + below(3) * 60;
  if (chance(15)) spec["preRunningDeadlineSeconds"] = 10 + below(3) * 10;
  if (mode != "InteractiveMode" && chance(20)) spec["jobId"] = "mine";
  if (!selects && chance(10)) spec["suspend"] = true;
  if (chance(20)) spec["runtimeEnvYAML"] = "pip: [jax]";
  return a_rayjob(spec);
}

World Generator::world() {
  World out(job());
  if (chance(15)) out.ray.set_fault(FakeRay::Fault::kRefusing);
  for (int round = below(25); round > 0; --round) {
    out.step();
    if (chance(90)) out.advance();
    if (chance(8)) edit(out);
    if (chance(12)) disturb(out);
    advance(out);
  }
  for (int round = chance(12) ? below(3) + 1 : 0; round > 0; --round) {
    out.patch_spec({{"suspend", true}});
    out.step();
  }
  return out;
}

bool has_ended_in_ray(const World& world) {
  const auto found = world.ray.jobs.find(world.job_id());
  return found != world.ray.jobs.end() && ray::is_terminal(found->second.status);
}

void Generator::advance(World& world) {
  // Submitters take a while to copy the log.
  if (chance(has_ended_in_ray(world) ? 25 : 75)) {
    progress(world, pick(*this, {"", "", "", "", "SUCCEEDED", "FAILED", "FAILED", "STOPPED"}));
  }
  world.pass(chance(90) ? std::chrono::seconds(below(5)) : std::chrono::seconds(40));
}

void Generator::edit(World& world) {
  switch (below(7)) {
    case 0:
    case 1:
      return world.patch_spec({{"suspend", chance(60)}});
    case 2:
      return world.patch_spec({{"backoffLimit", below(3)}});
    case 3:
      return world.patch_spec({{"activeDeadlineSeconds", 60}});
    case 4:
      return world.patch_spec({{"shutdownAfterJobFinishes", chance(70)},
                               {"ttlSecondsAfterFinished", nullptr},
                               {"deletionStrategy", nullptr}});
    case 5:
      return world.patch_spec({{"activeDeadlineSeconds", -1}});
    default:
      return world.patch_spec({{"entrypoint", chance(50) ? "" : "python other.py"}});
  }
}

void Generator::change_ray(World& world) {
  using enum FakeRay::Fault;
  constexpr std::array kFaults{kNone, kNone, kNone, kSlow, kFailing, kInvalid, kWrongTypes, kRefusing};
  const std::string id = world.job_id();
  switch (below(4)) {
    case 0:
    case 1:
      return world.ray.set_fault(kFaults.at(static_cast<std::size_t>(below(kFaults.size()))));
    case 2:
      return world.ray.forget_job(id);
    default:
      if (id.empty()) return;
      world.ray.set_job(id, pick(*this, {"PENDING", "RUNNING", "STOPPED", "SUCCEEDED", "FAILED", "no such status"}),
                        "changed");
  }
}

void Generator::change_cluster(World& world) {
  if (world.cluster().is_null()) return;
  const bool runs = string_at(world.cluster(), {"status", "state"}) == "ready";
  switch (below(5)) {
    case 0:
      return world.delete_cluster();
    case 1:
      return world.lose_head();
    case 2:
      if (!runs) return;
      world.replace_head();
      world.ray.jobs.clear();
      return;
    case 3:
      if (runs) world.set_workers(below(kHosts));
      return;
    default:
      world.set_cluster_condition("tpuslice.dev/SlicesPlaced", "False", "no node pool matches");
  }
}

void Generator::change_children(World& world) {
  const bool starts = world.status("jobDeploymentStatus") == kInitializing;
  switch (below(6)) {
    case 0:
      return world.delete_submitter();
    case 1:
      if (!world.submitter().is_null()) world.end_submitter(chance(50) ? "Complete" : "Failed");
      return;
    case 2:
      if (world.submitter().is_null()) world.add_foreign_submitter();
      return;
    case 3:
      if (world.service().is_null()) world.add_foreign_service();
      return;
    case 4:
      if (starts && world.cluster().is_null()) world.add_foreign_cluster(world.status("rayClusterName"));
      return;
    default:
      if (!world.observed().pods.empty()) world.end_sidecar(chance(50) ? "Completed" : "Error");
  }
}

void Generator::disturb(World& world) {
  switch (below(7)) {
    case 0:
      return world.restart_operator();
    case 1:
      return world.fail(chance(50) ? "FailedRayCluster" : "FailedSubmitter", "exceeded quota");
    case 2:
      return world.pass(2min);
    case 3:
      return change_cluster(world);
    case 4:
      return change_children(world);
    default:
      return change_ray(world);
  }
}

void Generator::heal(World& world) {
  world.patch_spec({{"suspend", false},
                    {"activeDeadlineSeconds", nullptr},
                    {"preRunningDeadlineSeconds", nullptr},
                    {"entrypoint", "python train.py"}});
  const RayJobObserved seen = world.observed();
  const RayJobState state(seen, world.options);
  if (state.spec.selects_cluster || state.spec.mode == SubmissionMode::kInteractive) {
    world.patch_spec({{"backoffLimit", 0}});
  }
  if (!state.owns_submitter()) world.delete_submitter();
  if (state.usable_cluster() == nullptr && !world.cluster().is_null()) world.delete_cluster();
  // An attempt that was suspended leaves its Ray job to the cluster of spec.clusterSelector.
  if (state.status.job_id.empty() || state.status.deployment == kSuspending) {
    world.ray.jobs.clear();
    world.ray.submissions.clear();
  }
  world.ray.set_fault(FakeRay::Fault::kNone);
  world.fail({}, {});
  world.restart_operator();
}

}  // namespace tpuslice::rayjob

#include "tests/laws/jobset_generator.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "controllers/jobset/children.h"
#include "controllers/jobset/rules/jobset_labels.h"

namespace tpuslice::jobset {
namespace {

using namespace std::chrono_literals;

constexpr std::array kActions{"FailJobSet", "RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts", "RestartJob",
                              "RestartJobAndIgnoreMaxRestarts"};
constexpr std::array kReasons{"BackoffLimitExceeded", "PodFailurePolicy", "DeadlineExceeded"};

std::string job_called(int number) { return fmt::format("job-{}", number); }

bool is_finished(const Json& job) {
  for (const Json& condition : array_at(job, {"status", "conditions"})) {
    const std::string type = string_at(condition, {"type"});
    if (type == "Complete" || type == "Failed") return true;
  }
  return false;
}

bool is_owned(const Json& job, const std::string& uid) {
  return string_at(job, {"metadata", "ownerReferences", "0", "uid"}) == uid;
}

/// Started, with so many pods.
JobChange lacking_pods(int pods) {
  return [=](Json& job) {
    active(job);
    job["status"]["active"] = pods;
  };
}

std::vector<std::string> names_in(const World& world) {
  std::vector<std::string> names;
  for (const auto& [name, job] : world.jobs()) names.push_back(name);
  return names;
}

}  // namespace

void JobSetGenerator::add_job(JobSetBuilder& jobset, int number, bool dependencies) {
  jobset.job(job_called(number), number == 0 ? 1 + below(3) : below(4));
  if (chance(50)) {
    jobset.hosts(4).tpu(kV6e, "4x4");
    if (chance(15)) jobset.of_pod("/metadata/annotations/tpuslice.dev~1gating", "off");
  } else if (chance(30)) {
    jobset.hosts(2).tpu(kV6e, "2x4");
  } else {
    jobset.hosts(1 + below(3));
  }
  if (chance(20)) jobset.of_pod("/spec/containers/0/ports", Json::array({{{"containerPort", 8080 + below(3)}}}));
  if (chance(20)) jobset.of_pod("/spec/priorityClassName", chance(80) ? "low" : "unknown");
  if (chance(30)) jobset.group(fmt::format("group-{}", below(2)));
  if (dependencies && number > 0 && chance(40)) {
    jobset.depends_on(job_called(below(number)), chance(50) ? "Ready" : "Complete");
  }
}

/// Valid: gangs only of gated slices.
Json JobSetGenerator::random_scheduling(const JobSetBuilder& jobset) {
  const Json basic = {{"schedulingPolicy", {{"basic", Json::object()}}}};
  const Json gang = {{"schedulingPolicy", {{"gang", Json::object()}}}};
  if (chance(50)) return basic;
  Json entries = Json::array();
  for (const Json& job : array_at(jobset.json(), {"spec", "replicatedJobs"})) {
    const Json& pod = job["template"]["spec"]["template"];
    const bool slices = find_path(pod, {"spec", "nodeSelector"}) != nullptr;
    const bool gated = string_at(pod, {"metadata", "annotations", tpu::kGating}) != "off";
    Json entry = {{"targetReplicatedJobs", Json::array({job["name"]})}};
    const Json& policy = slices && gated && chance(70) ? gang : basic;
    if (chance(50)) {
      entry["job"] = policy;
    } else {
      entry.update(policy);
    }
    entries.push_back(std::move(entry));
  }
  return {{"replicatedJobs", std::move(entries)}};
}

void JobSetGenerator::add_policies(JobSetBuilder& jobset, int jobs) {
  if (chance(75)) {
    jobset.restarts(below(4));
    if (chance(30)) jobset.set("/spec/failurePolicy/restartStrategy", "BlockingRecreate");
    const int rules = chance(50) ? 0 : 1 + below(3);
    for (int i = 0; i < rules; ++i) {
      Json rule = {{"name", fmt::format("rule_{}", i)}, {"action", kActions.at(static_cast<std::size_t>(below(5)))}};
      if (chance(50)) {
        rule["onJobFailureReasons"] = Json::array({kReasons.at(static_cast<std::size_t>(below(3)))});
      }
      if (chance(40)) rule["targetReplicatedJobs"] = Json::array({job_called(below(jobs))});
      if (chance(20)) rule["onJobFailureMessagePatterns"] = Json::array({"exit code [0-9]+"});
      jobset.rule(std::move(rule));
    }
  }
  if (chance(30)) {
    jobset.set("/spec/successPolicy/operator", chance(50) ? "Any" : "All");
    if (chance(50)) jobset.set("/spec/successPolicy/targetReplicatedJobs", Json::array({job_called(below(jobs))}));
  }
}

JobSetBuilder JobSetGenerator::random_jobset() {
  JobSetBuilder jobset = a_jobset("train");
  const int jobs = 1 + below(4);
  const bool in_order = chance(25);
  for (int i = 0; i < jobs; ++i) add_job(jobset, i, !in_order);
  if (in_order) jobset.in_order();
  add_policies(jobset, jobs);
  if (chance(20)) jobset.suspend();
  if (chance(20)) jobset.set("/spec/ttlSecondsAfterFinished", 10 * below(10));
  if (chance(10)) jobset.set("/spec/network/enableDNSHostnames", false);
  if (chance(10)) jobset.set("/spec/network/subdomain", "elsewhere");
  if (chance(10)) jobset.set("/spec/network/publishNotReadyAddresses", false);
  if (chance(20)) jobset.set("/spec/coordinator", {{"replicatedJob", "job-0"}, {"jobIndex", 0}, {"podIndex", 0}});
  if (chance(30)) {
    jobset.annotation("alpha.jobset.sigs.k8s.io/exclusive-topology", "cloud.google.com/gke-nodepool");
  }
  if (chance(50)) jobset.annotation(std::string(kRestartAt), "FailureTarget");
  if (chance(15)) {
    jobset.of_pod("/spec/containers/0/volumeMounts", Json::array({{{"name", "data"}, {"mountPath", "/data"}}}));
    const Json claim = {{"metadata", {{"name", "data"}}}, {"spec", {{"accessModes", Json::array({"ReadWriteOnce"})}}}};
    jobset.set("/spec/volumeClaimPolicies", Json::array({{{"templates", Json::array({claim})}}}));
  }
  if (chance(20)) jobset.set("/spec/scheduling", random_scheduling(jobset));
  if (chance(3)) jobset.set("/spec/managedBy", "kueue.x-k8s.io/multikueue");
  if (chance(10)) jobset.set("/spec/activeDeadlineSeconds", 1 + below(600));
  if (chance(3)) jobset.set("/metadata/deletionTimestamp", "2025-12-31T23:59:59Z");
  if (chance(3)) jobset.set("/spec/replicatedJobs/0/name", "Not_A_Name");
  return jobset;
}

JobChange JobSetGenerator::random_state() {
  const int kind = below(100);
  if (kind < 10) return fresh;
  if (kind < 20) return active;
  if (kind < 30) return lacking_pods(below(2));
  if (kind < 60) return ready;
  if (kind < 75) return succeeded;
  if (kind < 82) return suspended;
  if (kind < 87) return with_condition("FailureTarget", kReasons.at(static_cast<std::size_t>(below(3))));
  return failed(kReasons.at(static_cast<std::size_t>(below(3))), "exit code 1", std::chrono::seconds(below(5)));
}

/// Random defects of a Job.
void JobSetGenerator::distort(World& world, const std::string& job, int restarts) {
  if (restarts > 0 && chance(25)) world.job(job, of_attempt(below(restarts)));
  if (chance(10)) world.job(job, being_deleted(chance(70) ? -1min : -10min));
  if (chance(3)) world.job(job, without_label(kRestartAttempt));
  if (chance(10)) world.job(job, without_label(kExecutionAttempt));
  if (chance(3)) world.job(job, with_label(kJobIndex, chance(50) ? "x" : "7"));
  if (chance(3)) world.job(job, with_label(kReplicatedJobName, "unknown"));
  if (chance(3)) world.job(job, with_field("/metadata/ownerReferences/0/uid", "another-owner"));
  if (chance(5)) world.job(job, with_field("/spec/suspend", true));
  if (chance(4)) {
    world.job(job, [pending = std::chrono::seconds(below(8))](Json& json) {
      json["spec"]["suspend"] = true;
      json["metadata"]["annotations"][std::string(kDeletionPendingSince)] = format_rfc3339(after(-pending));
    });
  }
}

void JobSetGenerator::add_status(World& world) {
  if (chance(30)) return;
  Json status = Json::object();
  const int restarts = below(3);
  status["restarts"] = restarts;
  if (restarts > 0 && chance(70)) status["restartsCountTowardsMax"] = restarts;
  if (chance(60)) status["executionAttempts"] = restarts + below(3);
  Json conditions = Json::array();
  const auto add = [&](const char* type, bool value) {
    conditions.push_back({{"type", type},
                          {"status", value ? "True" : "False"},
                          {"reason", "Before"},
                          {"message", "before"},
                          {"lastTransitionTime", "2025-12-31T23:59:00Z"}});
  };
  if (chance(12)) {
    const char* type = chance(50) ? "Completed" : "Failed";
    add(type, true);
    status["terminalState"] = type;
  }
  if (chance(20)) add("Suspended", chance(60));
  if (restarts > 0 && chance(50)) add("RestartingJobSet", chance(60));
  if (chance(10)) add("StartupPolicyInProgress", chance(50));
  if (!conditions.empty()) status["conditions"] = conditions;
  if (chance(30)) {
    status["replicatedJobsStatus"] = Json::array({{{"name", "job-0"},
                                                   {"ready", below(3)},
                                                   {"succeeded", 0},
                                                   {"failed", below(2)},
                                                   {"active", 0},
                                                   {"suspended", 0},
                                                   {"jobRestarts", {below(2), below(2)}}}});
  }
  world.set("/status", std::move(status));
}

void JobSetGenerator::add_jobs(World& world) {
  const JobSetSpec spec = world.spec();
  const int restarts = JobSetStatus::read(world.jobset()).restarts;
  const int percent = chance(20) ? 100 : 40 + below(60);
  const bool one_state = chance(50);
  const JobChange state = chance(70) ? JobChange(ready) : random_state();
  const bool just_restarted = restarts > 0 && chance(25);
  for (const ReplicatedJob& each : spec.jobs) {
    for (int index = 0; index < each.replicas; ++index) {
      if (!chance(percent)) continue;
      const std::string name = job_name(spec, each, index);
      world.job(name, one_state && chance(85) ? state : random_state());
      if (just_restarted) world.job(name, of_attempt(restarts - 1));
      distort(world, name, restarts);
    }
  }
}

void JobSetGenerator::add_resources(World& world) {
  if (chance(70)) world.with_resources();
  const JobSetSpec spec = world.spec();
  if (!spec.dns || !chance(30)) return;
  Json service = build_service(spec);
  if (chance(50)) service["spec"]["selector"]["stray"] = "x";
  if (chance(30)) service["spec"]["ports"] = Json::array({{{"name", "stray"}, {"port", 1 + below(3)}}});
  if (chance(30)) service["spec"]["publishNotReadyAddresses"] = !spec.publish_not_ready;
  if (chance(30)) service["metadata"]["ownerReferences"][0]["uid"] = "another-owner";
  if (chance(10)) service["metadata"]["deletionTimestamp"] = "2025-12-31T23:59:59Z";
  world.with_service(std::move(service));
}

World JobSetGenerator::world() {
  World out = random_jobset().world();
  out.options = {.mutation = {.kinds = own_kinds(), .gate = true}};
  if (chance(70)) out.priorities = {.by_class = {{"low", -10}}, .without_class = 0};
  add_status(out);
  const bool valid = string_at(out.jobset().json(), {"spec", "replicatedJobs", "0", "name"}) != "Not_A_Name";
  if (valid && chance(85)) add_jobs(out);
  add_resources(out);
  if (chance(5)) out.fail(chance(50) ? "JobCreationFailed" : "FailedUpdateStatus", "the server refused it");
  return out;
}

void JobSetGenerator::edit(World& world) {
  if (chance(60)) {
    world.set("/spec/suspend", chance(50));
    return;
  }
  const Json& jobs = world.jobset().json()["spec"]["replicatedJobs"];
  const int which = below(static_cast<int>(jobs.size()));
  if (chance(40) && bool_at(world.jobset().json(), {"spec", "suspend"})) {
    world.set(
        fmt::format("/spec/replicatedJobs/{}/template/spec/template/spec/containers/0/resources/requests/cpu", which),
        std::to_string(1 + below(3)));
    return;
  }
  const Json& job = jobs[static_cast<std::size_t>(which)];
  if (find_path(job, {"template", "spec", "template", "spec", "nodeSelector"}) != nullptr) return;
  const int hosts = 1 + below(4);
  for (const char* member : {"parallelism", "completions"}) {
    world.set(fmt::format("/spec/replicatedJobs/{}/template/spec/{}", which, member), hosts);
  }
}

void JobSetGenerator::advance(World& world) {
  for (const std::string& name : names_in(world)) {
    const Json& job = world.jobs().at(name);
    if (job["metadata"].contains("deletionTimestamp")) {
      if (chance(70)) world.without_job(name);
    } else if (!is_finished(job) && chance(60)) {
      if (bool_at(job, {"spec", "suspend"})) {
        world.job(name, suspended);
      } else {
        const int kind = below(100);
        world.job(name, kind < 20   ? JobChange(active)
                        : kind < 75 ? JobChange(ready)
                        : kind < 88 ? JobChange(succeeded)
                                    : failed("BackoffLimitExceeded", "exit code 1", std::chrono::seconds(below(60))));
      }
    }
  }
  world.now() += std::chrono::seconds(below(20));
}

void settle_children(World& world) {
  const std::string uid = world.jobset().uid();
  for (const std::string& name : names_in(world)) {
    const Json& job = world.jobs().at(name);
    if (job["metadata"].contains("deletionTimestamp") || !is_owned(job, uid)) {
      world.without_job(name);
    } else if (!is_finished(job)) {
      world.job(name, bool_at(job, {"spec", "suspend"}) ? suspended : ready);
    }
  }
  const auto service = world.observed().service;
  const bool ours = service != nullptr && service->controller && service->controller->uid == uid;
  if (service != nullptr && (!ours || service->deletion)) world.without_service();
  world.now() += 5s;
}

}  // namespace tpuslice::jobset

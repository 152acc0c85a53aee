#include "tests/support/rayjob/world.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "api/types/patch.h"
#include "controllers/ray/dashboard.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/raycluster/rules/spec.h"
#include "controllers/rayjob/rayjob_plan.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/rules/spec.h"
#include "tests/support/raycluster/fixtures.h"
#include "tpu/labels.h"

namespace tpuslice::rayjob {
namespace {

template <typename View>
std::shared_ptr<const View> view_if_any(const Json& json) {
  return json.is_null() ? nullptr : plan::view_of<View>(json);
}

bool is_due(const plan::WorkloadRequest& request, const plan::WorkloadAnswer* answer, Timestamp now) {
  if (answer == nullptr || answer->request != request) return true;
  return request.interval > Duration::zero() && now >= answer->received + request.interval;
}

}  // namespace

Json a_rayjob(const Json& spec) {
  const Json cluster = raycluster::a_cluster("unused", {{}});
  Json job = {{"apiVersion", "ray.io/v1"},
              {"kind", "RayJob"},
              {"metadata",
               {{"name", "train"},
                {"namespace", "default"},
                {"uid", "uid-of-train"},
                {"generation", 1},
                {"resourceVersion", "1"},
                {"labels", {{"team", "a"}}}}},
              {"spec", {{"entrypoint", "python train.py"}, {"rayClusterSpec", cluster["spec"]}}}};
  job["spec"] = apply_merge_patch(job["spec"], spec);
  return job;
}

FakeRay::Response FakeRay::act(const plan::WorkloadRequest& request, Timestamp now) {
  constexpr std::string_view kJobs = "/api/jobs/";
  if (request.target == kJobs) {
    if (fault == Fault::kRefusing) return {400, "bad runtime_env"};
    const std::string id = string_at(parse_json(request.body).value(), {"submission_id"});
    if (jobs.contains(id)) return {500, "Please use a different submission_id"};
    jobs[id] = {"RUNNING", "it runs"};
    ++submissions[id];
    return {200, "{}"};
  }
  std::string id = request.target.substr(kJobs.size());
  const bool stops = id.ends_with("/stop");
  if (stops) id.resize(id.size() - 5);
  const auto found = jobs.find(id);
  if (found == jobs.end()) return {404, "unknown job"};
  if (stops) {
    found->second.status = "STOPPED";
    return {200, R"({"stopped": true})"};
  }
  const std::int64_t milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  const Json job = {{"status", found->second.status},
                    {"message", found->second.message},
                    {"start_time", milliseconds},
                    {"end_time", ray::is_terminal(found->second.status) ? Json(milliseconds) : Json()}};
  return {200, job.dump()};
}

FakeRay::Response FakeRay::handle(const plan::WorkloadRequest& request, Timestamp now) {
  switch (fault) {
    case Fault::kFailing:
      return {500, "internal error"};
    case Fault::kInvalid:
      return {200, "<html>"};
    case Fault::kWrongTypes:
      return {200, R"({"status": ["SUCCEEDED"], "message": 7, "end_time": "soon"})"};
    case Fault::kSlow:
      (void)act(request, now);
      return {};
    case Fault::kNone:
    case Fault::kRefusing:
      break;
  }
  return act(request, now);
}

World::World(Json job) : PlanWorld(kRayJobs, std::move(job), raycluster::a_time()) {}

RayJobObserved World::observed() const {
  RayJobObserved seen;
  seen.job = object();
  seen.now = now_;
  seen.last_failure = last_failure_;
  const std::string name = status("rayClusterName");
  seen.cluster = view_if_any<ObjectView>(cluster());
  seen.submitter = view_if_any<JobView>(submitter());
  for (const auto& pod : views<PodView>(kPods)) {
    if (pod->label(raycluster::kRayCluster) == name) seen.pods.push_back(pod);
    if (seen.submitter && pod->controller && pod->controller->uid == seen.submitter->uid) {
      seen.submitter_pods.push_back(pod);
    }
  }
  seen.service = view_if_any<ObjectView>(service());
  std::vector<std::shared_ptr<const plan::WorkloadAnswer>> answers;
  for (const auto& [request, answer] : answers_) answers.push_back(answer);
  seen.answers = plan::WorkloadAnswers(std::move(answers));
  return seen;
}

plan::Plan World::plan() const { return plan_rayjob(observed(), options); }

void World::applied(const plan::Action& action, const Json& /*before*/) {
  if (action.events == nullptr) return;
  events_.insert(events_.end(), action.events->on_success.begin(), action.events->on_success.end());
}

void World::carried_out(const plan::Plan& plan, bool complete) {
  collect_garbage();
  if (!complete) return;
  events_.insert(events_.end(), plan.events.begin(), plan.events.end());
  requests_ = plan.requests;
  std::erase_if(answers_, [&](const auto& answer) {
    return std::ranges::find(requests_, answer.first, &plan::WorkloadRequest::name) == requests_.end();
  });
}

void World::advance() {
  for (const plan::WorkloadRequest& request : requests_) {
    const auto known = answers_.find(request.name);
    if (!is_due(request, known == answers_.end() ? nullptr : known->second.get(), now_)) continue;
    sent_.push_back(request.method + " " + request.target);
    plan::WorkloadAnswer answer{request};
    const bool up = std::ranges::any_of(objects(kPods), [&](const auto& pod) {
      return request.address.starts_with(string_at(pod.second, {"status", "podIP"}) + ":");
    });
    const FakeRay::Response response = up ? ray.handle(request, now_) : FakeRay::Response{};
    if (response.status != 0) {
      answer.status = response.status;
      if (request.read != nullptr) answer.content = request.read(response.status, response.body);
    } else {
      answer.error = "no answer in time";
    }
    answer.received = now_;
    answers_[request.name] = std::make_shared<const plan::WorkloadAnswer>(std::move(answer));
  }
}

const Json& World::child(const ResourceType& type, const std::string& name) const {
  static const Json kNone;
  const auto found = objects(type).find(name);
  return found == objects(type).end() ? kNone : found->second;
}

void World::prepare(const ResourceType& type, Json& created) {
  if (type != raycluster::kRayClusters) return;
  if (!objects(kPods).empty()) violations_.push_back("a cluster is created while pods of an earlier one exist");
  if (!cluster_names_.insert(string_at(created, {"metadata", "name"})).second) {
    violations_.push_back("two attempts have one cluster name");
  }
}

void World::collect_garbage() {
  for (auto& [name, pod] : objects(kPods)) {
    const std::string owner = string_at(pod, {"metadata", "ownerReferences", "0", "uid"});
    const bool owned = std::ranges::any_of(objects(raycluster::kRayClusters), [&](const auto& each) {
      return string_at(each.second, {"metadata", "uid"}) == owner;
    });
    if (!owned) pod["metadata"].emplace("deletionTimestamp", format_rfc3339(now_));
  }
}

void World::add_head(const std::string& address) {
  const std::string name = status("rayClusterName") + "-head";
  add(kPods, {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata",
               {{"name", name},
                {"namespace", "default"},
                {"labels", {{"ray.io/cluster", status("rayClusterName")}, {"ray.io/node-type", "head"}}},
                {"ownerReferences", Json::array({Object(cluster()).as_controller().to_json()})}}},
              {"spec", {{"containers", Json::array({Json{{"name", "ray-head"}}})}}},
              {"status", {{"phase", "Running"}, {"podIP", address}}}});
}

void World::start_cluster(int workers) {
  live_cluster()["status"] = {{"state", "ready"},
                              {"desiredWorkerReplicas", workers},
                              {"availableWorkerReplicas", workers},
                              {"readyWorkerReplicas", workers},
                              {"desiredTPU", std::to_string(4 * workers)}};
  replace_head();
}

void World::set_workers(int available) {
  set_cluster_status({{"availableWorkerReplicas", available}, {"readyWorkerReplicas", available}});
}

void World::set_cluster_status(const Json& patch) {
  Json& cluster = live_cluster();
  cluster["status"] = apply_merge_patch(cluster.value("status", Json::object()), patch);
}

void World::set_head_image(const std::string& image) {
  live_cluster()["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["image"] = image;
}

void World::set_cluster_condition(const std::string& type, const std::string& status, const std::string& message,
                                  const std::string& reason) {
  tpuslice::set_condition(live_cluster()["status"]["conditions"], {type, status, reason, message, 1}, now_);
}

void World::lose_head() { objects(kPods).erase(status("rayClusterName") + "-head"); }

void World::replace_head() { add_head(fmt::format("10.0.0.{}", ++heads_)); }

void World::delete_cluster() {
  objects(raycluster::kRayClusters).erase(status("rayClusterName"));
  collect_garbage();
}

void World::end_submitter(const std::string& condition) {
  objects(kJobs).at("train")["status"]["conditions"] = Json::array({{{"type", condition},
                                                                     {"status", "True"},
                                                                     {"reason", "BackoffLimitExceeded"},
                                                                     {"message", "it failed"},
                                                                     {"lastTransitionTime", format_rfc3339(now_)}}});
}

void World::add_submitter_pod(const std::string& name, const std::string& phase, const Json& state) {
  const Json status = {{"name", kSubmitterContainer}, {"state", state}};
  add(kPods, {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata",
               {{"name", name},
                {"namespace", "default"},
                {"creationTimestamp", format_rfc3339(now_)},
                {"labels", submitter().at("spec").at("template").at("metadata").at("labels")},
                {"ownerReferences", Json::array({Object(submitter()).as_controller().to_json()})}}},
              {"status", {{"phase", phase}, {"containerStatuses", Json::array({status})}}}});
}

void World::add_foreign_submitter() {
  add(kJobs,
      {{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", {{"name", "train"}, {"namespace", "default"}}}});
}

void World::add_foreign_cluster(const std::string& name) {
  add(raycluster::kRayClusters, {{"apiVersion", "ray.io/v1"},
                                 {"kind", "RayCluster"},
                                 {"metadata", {{"name", name}, {"namespace", "default"}}},
                                 {"spec", a_rayjob()["spec"]["rayClusterSpec"]}});
}

void World::add_foreign_service() {
  add(kServices, {{"apiVersion", "v1"},
                  {"kind", "Service"},
                  {"metadata", {{"name", "train-head-svc"}, {"namespace", "default"}}}});
}

void World::end_sidecar(const std::string& reason, bool with_ray) {
  Json& head = objects(kPods).begin()->second;
  const auto ended = [](const std::string& container, const std::string& why) {
    return Json{{"name", container}, {"state", {{"terminated", {{"reason", why}, {"exitCode", 1}}}}}};
  };
  head["status"]["containerStatuses"] = Json::array({ended(std::string(kSubmitterContainer), reason)});
  if (with_ray) {
    head["status"]["containerStatuses"].push_back(
        ended(raycluster::RayClusterSpec::read(cluster()).head.ray_container(), "OOMKilled"));
  }
}

void World::patch_spec(const Json& patch) {
  Json& job = object().mutable_json();
  job["spec"] = apply_merge_patch(job["spec"], patch);
  job["metadata"]["generation"] = job["metadata"]["generation"].get<int>() + 1;
}

void World::delete_job() {
  Json& metadata = object().mutable_json()["metadata"];
  if (!metadata.contains("deletionTimestamp")) metadata["deletionTimestamp"] = format_rfc3339(now_);
}

void World::restart_operator() {
  requests_.clear();
  answers_.clear();
}

Json World::status() const { return plan::status_of(object()); }

std::string World::status(std::string_view field) const { return string_at(job(), {"status", field}); }

std::string World::state() const {
  std::string out = status("jobDeploymentStatus");
  for (const char* field : {"jobStatus", "reason"}) {
    if (!status(field).empty()) out += " " + status(field);
  }
  return out;
}

std::string World::condition(std::string_view type) const {
  const Json* found = find_condition(array_at(job(), {"status", "conditions"}), type);
  if (found == nullptr) return "absent";
  return fmt::format("{} {}: {}", string_at(*found, {"status"}), string_at(*found, {"reason"}),
                     string_at(*found, {"message"}));
}

std::vector<std::string> World::take_requests() { return std::exchange(sent_, {}); }

std::vector<std::string> World::take_events() {
  std::vector<std::string> out;
  for (; taken_events_ < events_.size(); ++taken_events_) out.push_back(events_[taken_events_].reason);
  return out;
}

std::string World::last_message(std::string_view event) const {
  const auto found = std::find_if(events_.rbegin(), events_.rend(),
                                  [&](const plan::EventIntent& each) { return each.reason == event; });
  return found == events_.rend() ? "(no event)" : found->message;
}

}  // namespace tpuslice::rayjob

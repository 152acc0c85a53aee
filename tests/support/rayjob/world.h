// World: one RayJob, its children and its Ray cluster in memory. Answers the requests of plans as the client for
// workloads does.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayjob/observed.h"
#include "controllers/rayjob/rayjob_options.h"
#include "tests/support/plan_world.h"

namespace tpuslice::rayjob {

/// default/train: "python train.py" on a v6e 4x4 slice. `spec`: a merge patch of its spec.
[[nodiscard]] Json a_rayjob(const Json& spec = Json::object());

/// A dashboard with jobs, as Ray 2.60 answers. A value, so that worlds can be copied.
class FakeRay {
 public:
  enum class Fault : std::uint8_t {
    kNone,
    kSlow,        ///< Acts on the request, but does not answer.
    kFailing,     ///< 500, without acting on it.
    kInvalid,     ///< 200 with a body that is not JSON.
    kWrongTypes,  ///< 200 with JSON of other types.
    kRefusing,    ///< 400 for submissions.
  };
  struct Job {
    std::string status;
    std::string message;
  };
  struct Response {
    int status = 0;  ///< 0: no answer.
    std::string body;
  };

  [[nodiscard]] Response handle(const plan::WorkloadRequest& request, Timestamp now);
  void set_job(const std::string& id, std::string status, std::string message) { jobs[id] = {status, message}; }
  void forget_job(const std::string& id) { jobs.erase(id); }
  void set_fault(Fault chosen) { fault = chosen; }

  std::map<std::string, Job> jobs;
  std::map<std::string, int> submissions;  ///< Jobs that were started over HTTP, by id.
  Fault fault = Fault::kNone;

 private:
  [[nodiscard]] Response act(const plan::WorkloadRequest& request, Timestamp now);
};

class World final : public plan::PlanWorld {
 public:
  explicit World(Json job);

  [[nodiscard]] RayJobObserved observed() const;
  [[nodiscard]] plan::Plan plan() const override;
  /// The requests that are due are answered. No time passes.
  void advance() override;

  // What others do.
  /// All pods of the cluster run: a head, and the status of `workers` workers.
  void start_cluster(int workers = 4);
  void set_workers(int available);
  void set_cluster_status(const Json& patch);
  void set_head_image(const std::string& image);
  void set_cluster_condition(const std::string& type, const std::string& status, const std::string& message,
                             const std::string& reason = "Reason");
  void lose_head();
  void replace_head();
  void delete_cluster();
  void delete_pods() { objects(kPods).clear(); }
  /// "Complete" or "Failed".
  void end_submitter(const std::string& condition);
  void delete_submitter() { objects(kJobs).clear(); }
  /// A pod of the submitter whose container is in `state`.
  void add_submitter_pod(const std::string& name, const std::string& phase, const Json& state);
  /// Of another owner.
  void add_foreign_submitter();
  void add_foreign_cluster(const std::string& name);
  void add_foreign_service();
  /// `with_ray`: the Ray container has ended, too.
  void end_sidecar(const std::string& reason, bool with_ray = false);
  void patch_spec(const Json& patch);
  void delete_job();
  /// A new operator has no answers.
  void restart_operator();

  [[nodiscard]] const Json& job() const { return object().json(); }
  [[nodiscard]] Json status() const;
  [[nodiscard]] std::string status(std::string_view field) const;
  /// "Initializing", "Running SUCCEEDED", "Failed AppFailed": deployment and job status, reason.
  [[nodiscard]] std::string state() const;
  /// "False ClusterPending: message"
  [[nodiscard]] std::string condition(std::string_view type) const;
  /// The cluster of the name in the status; null if there is none, as are the next two.
  [[nodiscard]] const Json& cluster() const { return child(raycluster::kRayClusters, status("rayClusterName")); }
  [[nodiscard]] const Json& submitter() const { return child(kJobs, "train"); }
  [[nodiscard]] const Json& service() const { return child(kServices, "train-head-svc"); }
  [[nodiscard]] std::string job_id() const { return status("jobId"); }
  /// "POST /api/jobs/" as sent since the last call.
  std::vector<std::string> take_requests();
  std::vector<std::string> take_events();
  [[nodiscard]] std::string last_message(std::string_view event) const;
  [[nodiscard]] const std::set<std::string>& cluster_names() const { return cluster_names_; }
  /// Names of clusters created while pods of an earlier one existed; jobs submitted twice over HTTP.
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

  /// 2026-01-01T00:00:00Z at first.
  [[nodiscard]] Timestamp now() const { return now_; }

  FakeRay ray;
  Options options;

 private:
  void prepare(const ResourceType& type, Json& created) override;
  void applied(const plan::Action& action, const Json& before) override;
  /// The requests of a complete plan replace those of the one before.
  void carried_out(const plan::Plan& plan, bool complete) override;
  /// The pods of deleted clusters terminate.
  void collect_garbage();
  [[nodiscard]] const Json& child(const ResourceType& type, const std::string& name) const;
  [[nodiscard]] Json& live_cluster() { return objects(raycluster::kRayClusters).at(status("rayClusterName")); }
  void add_head(const std::string& address);

  std::vector<plan::WorkloadRequest> requests_;
  std::map<std::string, std::shared_ptr<const plan::WorkloadAnswer>> answers_;
  std::vector<std::string> sent_;
  std::vector<plan::EventIntent> events_;
  std::set<std::string> cluster_names_;
  std::vector<std::string> violations_;
  std::size_t taken_events_ = 0;
  int heads_ = 0;
};

}  // namespace tpuslice::rayjob

// RayDashboards: the dashboards of all Ray clusters, as tests set them up: jobs and Serve applications without Ray.
//
// A request says by its header Host, the name of the head service, which cluster it is for. Compared with the real
// dashboard by tests/ray.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/http/transport.h"
#include "api/types/json.h"

namespace tpuslice::sim {

/// How the dashboards misbehave.
enum class DashboardFault : std::uint8_t {
  kNone,
  kSlow,        ///< Acts on the request, but answers too late. See RayDashboards::handle().
  kFailing,     ///< 500
  kInvalid,     ///< 200 with a body that is not JSON
  kWrongTypes,  ///< 200 with JSON of other types
  kHuge,        ///< 200 with a long body
};
/// "slow"; "none" for kNone. Nothing for another text.
[[nodiscard]] std::optional<DashboardFault> parse_dashboard_fault(std::string_view text);

/// Thread-safe.
class RayDashboards {
 public:
  /// A submitted job runs, and succeeds after `job_duration`; absent: it runs until set_job(). `clock` outlives it.
  explicit RayDashboards(const Clock& clock, std::optional<Duration> job_duration = {})
      : clock_(clock), job_duration_(job_duration) {}

  /// Nothing for a request that gets no answer in time (kSlow).
  [[nodiscard]] std::optional<http::Response> handle(const http::Request& request) TPUSLICE_EXCLUDES(mutex_);

  /// Submits a job, as POST /api/jobs/ does.
  void submit(const Json& submission) TPUSLICE_EXCLUDES(mutex_);
  void set_fault(DashboardFault fault) TPUSLICE_EXCLUDES(mutex_);
  /// Sets the status of the job with this submission id, whether or not it was submitted: a submitter in a pod does not
  /// run here.
  void set_job(const std::string& id, const std::string& status, const std::string& message) TPUSLICE_EXCLUDES(mutex_);
  /// The job is unknown, as after the loss of its head.
  void forget_job(const std::string& id) TPUSLICE_EXCLUDES(mutex_);

  // The applications of the cluster with this head service: "<name>.<namespace>".
  /// Status of an application, deployed or not yet; otherwise a deployed application is RUNNING.
  void set_application(const std::string& service, const std::string& name, const std::string& status,
                       const std::string& message) TPUSLICE_EXCLUDES(mutex_);
  /// Nothing is deployed, as after the loss of the head.
  void forget_applications(const std::string& service) TPUSLICE_EXCLUDES(mutex_);
  /// IP addresses of the nodes with a healthy proxy.
  void set_proxies(const std::string& service, std::vector<std::string> addresses) TPUSLICE_EXCLUDES(mutex_);

  /// "POST train-x7k2p-head-svc.default /api/jobs/", in order, since the last call.
  [[nodiscard]] std::vector<std::string> take_requests() TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Job {
    std::string status;
    std::string message;
    Timestamp start;
    std::optional<Timestamp> end;
  };
  struct Serve {
    Json config;                               ///< The configuration as deployed; null: nothing.
    std::map<std::string, Json> applications;  ///< Status and message that were set.
    std::vector<std::string> proxies;
  };

  http::Response answer_locked(const std::string& service, const http::Request& request) TPUSLICE_REQUIRES(mutex_);
  http::Response submit_locked(const Json& submission) TPUSLICE_REQUIRES(mutex_);
  http::Response get_job_locked(const std::string& id) TPUSLICE_REQUIRES(mutex_);
  http::Response stop_locked(const std::string& id) TPUSLICE_REQUIRES(mutex_);
  [[nodiscard]] Json applications_locked(const std::string& service) const TPUSLICE_REQUIRES(mutex_);
  /// Ends jobs whose time is over.
  Job* find_locked(const std::string& id) TPUSLICE_REQUIRES(mutex_);

  const Clock& clock_;
  const std::optional<Duration> job_duration_;
  mutable Mutex mutex_;
  DashboardFault fault_ TPUSLICE_GUARDED_BY(mutex_) = DashboardFault::kNone;
  std::map<std::string, Job> jobs_ TPUSLICE_GUARDED_BY(mutex_);     ///< By submission id.
  std::map<std::string, Serve> serve_ TPUSLICE_GUARDED_BY(mutex_);  ///< By service.
  std::vector<std::string> requests_ TPUSLICE_GUARDED_BY(mutex_);
};

/// Sends requests to `dashboards`, which outlives the function; the address does not matter. Errors: Timeout for a
/// request that gets no answer in time.
[[nodiscard]] std::function<Result<http::Response>(const std::string& address, const http::Request& request,
                                                   Duration deadline, const std::stop_token& stop)>
in_process(RayDashboards& dashboards);

}  // namespace tpuslice::sim

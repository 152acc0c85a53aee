// The REST API of Ray's dashboard: requests for jobs and Serve applications, and what is kept of the answers.
//
// The dashboard runs in a user's pod. Its answers are bounded and checked; a value of another type counts as absent.
// Source of paths and fields: Ray 2.60, python/ray/dashboard/modules/{job,serve}.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/views.h"
#include "controllers/plan/workload_request.h"
#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::ray {

/// How the dashboard of a cluster is reached.
struct Dashboard {
  std::string address;  ///< Address of the head pod: "10.0.1.7:8265".
  std::string host;     ///< Name of the head service: "train-x7k2p-head-svc.default.svc.cluster.local".
  std::optional<plan::TokenSource> token;  ///< Token of a cluster with token authentication.
  friend bool operator==(const Dashboard&, const Dashboard&) = default;
};

/// The port of the head container named dashboard, or 8265.
[[nodiscard]] std::int64_t dashboard_port(const raycluster::RayClusterSpec& cluster);
/// Nothing while the head pod has no address.
[[nodiscard]] std::optional<Dashboard> dashboard_of(const raycluster::RayClusterSpec& cluster, const PodView& head,
                                                    std::string_view cluster_domain);
/// "train-x7k2p-head-svc.default.svc.cluster.local:8265", for users: without scheme, as upstream has it in status and
/// RAY_DASHBOARD_ADDRESS.
[[nodiscard]] std::string dashboard_host_port(const raycluster::RayClusterSpec& cluster,
                                              std::string_view cluster_domain);

// Jobs.

// Status of a job.
inline constexpr std::string_view kPending = "PENDING";
inline constexpr std::string_view kRunning = "RUNNING";
inline constexpr std::string_view kStopped = "STOPPED";
inline constexpr std::string_view kSucceeded = "SUCCEEDED";
inline constexpr std::string_view kFailed = "FAILED";
/// STOPPED, SUCCEEDED or FAILED.
[[nodiscard]] bool is_terminal(std::string_view job_status);

struct JobInfo {
  std::string status;                      ///< One of the above; empty if the answer has another one.
  std::string message;                     ///< At most kMaxMessage bytes.
  std::optional<std::int64_t> start_time;  ///< Milliseconds since 1970.
  std::optional<std::int64_t> end_time;
};
/// Bytes of a message that is kept of an answer.
inline constexpr std::size_t kMaxMessage = 1024;

/// Repeated every `interval`. Answers: 200; 404 for an unknown job.
[[nodiscard]] plan::WorkloadRequest get_job(const Dashboard& dashboard, std::string_view id, Duration interval);
/// The job in an answer to get_job(); nothing unless it is 200 and an object.
[[nodiscard]] std::optional<JobInfo> job_info(const plan::WorkloadAnswer& answer);

/// `submission`: body of POST /api/jobs/ with entrypoint, submission_id, runtime_env, metadata and entrypoint_*. Ray
/// answers 500 for an id that is in use. A request without an answer may have been carried out: ask get_job() before
/// the next attempt.
[[nodiscard]] plan::WorkloadRequest submit_job(const Dashboard& dashboard, const Json& submission,
                                               std::int64_t attempt);
[[nodiscard]] plan::WorkloadRequest stop_job(const Dashboard& dashboard, std::string_view id);

// Serve.

// Status of an application.
inline constexpr std::string_view kApplicationRunning = "RUNNING";

/// Limits of what is kept of an answer; applications and deployments beyond them are left out.
inline constexpr std::size_t kMaxApplications = 64;
inline constexpr std::size_t kMaxDeployments = 64;
inline constexpr std::size_t kMaxProxies = 1024;
/// Bytes of a name or status that is kept.
inline constexpr std::size_t kMaxName = 128;

struct DeploymentInfo {
  std::string status;
  std::string message;
};
struct ApplicationInfo {
  std::string status;
  std::string message;
  std::string config;  ///< application_hash() of what Ray was given; empty if Ray does not report it.
  std::map<std::string, DeploymentInfo> deployments;
};
struct ServeInfo {
  std::map<std::string, ApplicationInfo> applications;
  std::vector<std::string> proxies;  ///< IP addresses of the nodes with a healthy proxy, sorted.
};

/// Hash of the configuration of one application, whether it was read from serveConfigV2 or is reported by Ray, which
/// reports what it was given: 1 and 1.0 are equal, and a member that is null counts as absent.
[[nodiscard]] std::string application_hash(const Json& application);

/// `name` of the request: unique within the object. Repeated every `interval`.
[[nodiscard]] plan::WorkloadRequest get_applications(const Dashboard& dashboard, std::string name, Duration interval);
/// The applications in an answer to get_applications(); nothing unless it is 200 and an object.
[[nodiscard]] std::optional<ServeInfo> serve_info(const plan::WorkloadAnswer& answer);
/// `config` as spec.serveConfigV2, as JSON.
[[nodiscard]] plan::WorkloadRequest put_applications(const Dashboard& dashboard, std::string name, const Json& config,
                                                     std::int64_t attempt);

/// What the server said about a request that it refused, for messages: "400: bad schema ..."; why there is no answer
/// otherwise.
[[nodiscard]] std::string explain(const plan::WorkloadAnswer& answer);

}  // namespace tpuslice::ray

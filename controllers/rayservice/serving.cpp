#include "controllers/rayservice/serving.h"

#include <algorithm>
#include <utility>

#include "api/base/hash.h"
#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {
namespace {

using plan::WorkloadAnswer;
using plan::WorkloadAnswers;
using plan::WorkloadRequest;

ServeRecord record_of(const Cluster& cluster) { return ServeRecord::parse(cluster.annotation(kServeConfig)); }

std::optional<ray::Dashboard> dashboard_of(const Cluster& cluster, const Options& options) {
  if (!cluster.head_ready()) return std::nullopt;
  return ray::dashboard_of(cluster.spec, *cluster.head, options.cluster_domain);
}

/// A different request for each state of the record, so that an answer is never older than the state.
WorkloadRequest status_request(const Cluster& cluster, const ray::Dashboard& dashboard) {
  const ServeRecord record = record_of(cluster);
  WorkloadRequest out = ray::get_applications(dashboard, "applications/" + cluster.name(), kPollInterval);
  out.attempt = 2 * record.attempt + (record.accepted ? 1 : 0);
  return out;
}

/// Sends the configuration and follows its answer.
class ConfigSender {
 public:
  ConfigSender(const Cluster& cluster, const ray::Dashboard& dashboard, const ServeConfig& config,
               const WorkloadAnswers& answers, Timestamp now, const Options& options, Serving& out)
      : cluster_(cluster),
        dashboard_(dashboard),
        config_(config),
        answers_(answers),
        now_(now),
        options_(options),
        record_(record_of(cluster)),
        out_(out) {}

  /// `status`: the answer to the present GET; null without.
  void run(const WorkloadAnswer* status) {
    const bool same = record_.hash == config_.hash;
    if (same && !record_.accepted) return follow(status);
    const bool empty = out_.current && out_.info->applications.empty();
    if (same) return compare();
    if (!out_.current) return explain_status(status);
    const bool nothing_to_remove = config_.applications.empty() && record_.hash.empty() && empty;
    if (nothing_to_remove) return;
    out_.problem = config_pending();
    send_next();
  }

 private:
  [[nodiscard]] WorkloadRequest request(std::int64_t attempt) const {
    return ray::put_applications(dashboard_, "config/" + cluster_.name(), config_.json, attempt);
  }

  [[nodiscard]] Problem config_pending() const {
    return {"ConfigPending", fmt::format("RayCluster {} is given serveConfigV2", cluster_.name())};
  }

  /// What was accepted, with what the cluster reports.
  void compare() {
    if (lacks_applications()) {
      return send_again({"ApplicationsLost",
                         fmt::format("RayCluster {} does not report all applications, as after the loss of its head: "
                                     "it is given serveConfigV2 again",
                                     cluster_.name())},
                        {});
    }
    const std::string other = other_config();
    if (!other.empty() && other != record_.reported) {
      return send_again({"ConfigOverwritten",
                         fmt::format("RayCluster {} reports another configuration than serveConfigV2, which it had "
                                     "accepted: it is given serveConfigV2 again",
                                     cluster_.name())},
                        other);
    }
    // The same configuration may come again, and is then not what Ray makes of serveConfigV2.
    if (out_.current && other.empty() && !record_.reported.empty()) {
      out_.record = ServeRecord{record_.hash, record_.attempt, true};
    }
    await_applications();
  }

  /// Hash of the configuration that the cluster reports if it is another one; empty otherwise. An application that Ray
  /// deletes, or was not given by this API, has none.
  [[nodiscard]] std::string other_config() const {
    if (!out_.current) return {};
    std::string reported;
    bool differs = false;
    for (const auto& [name, application] : out_.info->applications) {
      if (application.config.empty()) continue;
      const auto expected = config_.application_hashes.find(name);
      differs = differs || expected == config_.application_hashes.end() || expected->second != application.config;
      reported += fmt::format("{}={}\n", name, application.config);
    }
    return differs ? short_hash(reported) : std::string();
  }

  /// The cluster does not report what it has accepted, such as after the loss of its head.
  [[nodiscard]] bool lacks_applications() const {
    if (!out_.current) return false;
    const auto& reported = out_.info->applications;
    if (reported.size() >= ray::kMaxApplications) return false;  // Others may be left out.
    return !std::ranges::all_of(config_.applications, [&](const std::string& name) { return reported.contains(name); });
  }

  /// Keeps the answer until applications are reported: it says when the configuration was accepted.
  void await_applications() {
    if (out_.current) return;
    if (const WorkloadAnswer* answer = answers_.to(request(record_.attempt))) {
      out_.requests.push_back(answer->request);
    }
  }

  void send_again(Problem problem, std::string reported) {
    out_.problem = std::move(problem);
    // A configuration that was just accepted may not be reported yet.
    const WorkloadAnswer* answer = answers_.to(request(record_.attempt));
    if (answer != nullptr && !is_due(*answer, options_.serve_retry)) return keep(*answer);
    send_next(std::move(reported));
  }

  /// The configuration was sent, but no answer is recorded.
  void follow(const WorkloadAnswer* status) {
    const WorkloadRequest sent = request(record_.attempt);
    out_.problem = config_pending();
    const WorkloadAnswer* answer = answers_.to(sent);
    if (answer == nullptr) {
      // After a restart of the operator the request may have been sent before, so the applications are read first.
      const WorkloadAnswer* asked = answers_.last("applications/" + cluster_.name());
      if (asked != nullptr && asked->ok()) out_.requests.push_back(sent);
      return;
    }
    if (answer->ok()) {
      out_.requests.push_back(sent);
      out_.record = ServeRecord{record_.hash, record_.attempt, true, record_.reported};
      out_.problem = {};
      return;
    }
    const bool refused = answer->status / 100 == 4;
    out_.problem = {
        refused ? "ConfigRefused" : "DashboardFailing",
        fmt::format("RayCluster {} did not accept serveConfigV2: {}", cluster_.name(), ray::explain(*answer))};
    const bool asked_since = out_.current && status->received > answer->received;
    if (asked_since && is_due(*answer, refused ? options_.refused_retry : options_.serve_retry)) {
      return send_next(record_.reported);
    }
    keep(*answer);
  }

  /// Keeps the answer until the next attempt.
  void keep(const WorkloadAnswer& answer) {
    out_.requests.push_back(answer.request);
    const bool refused = answer.status / 100 == 4;
    const Duration retry = refused ? options_.refused_retry : options_.serve_retry;
    out_.requeue_after = std::max<Duration>(answer.received + retry - now_, kPollInterval);
  }

  [[nodiscard]] bool is_due(const WorkloadAnswer& answer, Duration retry) const {
    return now_ >= answer.received + retry;
  }

  void send_next(std::string reported = {}) {
    out_.record = ServeRecord{config_.hash, record_.attempt + 1, false, std::move(reported)};
    out_.requests.push_back(request(record_.attempt + 1));
  }

  void explain_status(const WorkloadAnswer* status) {
    if (status == nullptr) {
      out_.problem = {"DashboardPending",
                      fmt::format("the dashboard of RayCluster {} is asked for its applications", cluster_.name())};
      return;
    }
    out_.problem = {"DashboardFailing",
                    fmt::format("the dashboard of RayCluster {} does not report its applications: {}", cluster_.name(),
                                ray::explain(*status))};
  }

  const Cluster& cluster_;
  const ray::Dashboard& dashboard_;
  const ServeConfig& config_;
  const WorkloadAnswers& answers_;
  const Timestamp now_;
  const Options& options_;
  const ServeRecord record_;
  Serving& out_;
};

Serving observe(const Cluster& cluster, const ray::Dashboard& dashboard, const WorkloadAnswers& answers) {
  Serving out;
  const WorkloadRequest request = status_request(cluster, dashboard);
  out.requests.push_back(request);
  const WorkloadAnswer* answer = answers.to(request);
  if (answer != nullptr) out.info = ray::serve_info(*answer);
  out.current = out.info.has_value();
  if (const WorkloadAnswer* last = answers.last(request.name); answer == nullptr && last != nullptr) {
    out.info = ray::serve_info(*last);
  }
  return out;
}

bool has_accepted(const ServeRecord& record, const ServeConfig& config) {
  return record.accepted && record.hash == config.hash;
}

Problem head_not_ready(const Cluster& cluster) {
  return {"HeadNotReady", fmt::format("the head of RayCluster {} is not ready", cluster.name())};
}

}  // namespace

bool Serving::ready() const {
  return current && !problem && !record && !info->applications.empty() &&
         std::ranges::all_of(info->applications, [](const auto& each) { return each.second.status == "RUNNING"; });
}

Serving observe_serving(const Cluster& cluster, const WorkloadAnswers& answers, const Options& options) {
  const std::optional<ray::Dashboard> dashboard = dashboard_of(cluster, options);
  if (!dashboard) {
    Serving out;
    out.problem = head_not_ready(cluster);
    return out;
  }
  return observe(cluster, *dashboard, answers);
}

Serving apply_serve_config(const Cluster& cluster, const ServeConfig& config, const WorkloadAnswers& answers,
                           Timestamp now, const Options& options) {
  const std::optional<ray::Dashboard> dashboard = dashboard_of(cluster, options);
  if (!dashboard) {
    Serving out = observe_serving(cluster, answers, options);
    out.accepted = has_accepted(record_of(cluster), config);
    if (out.accepted) out.problem = {};
    return out;
  }
  Serving out = observe(cluster, *dashboard, answers);
  ConfigSender(cluster, *dashboard, config, answers, now, options, out).run(answers.to(out.requests.front()));
  out.accepted = has_accepted(out.record ? *out.record : record_of(cluster), config);
  return out;
}

}  // namespace tpuslice::rayservice

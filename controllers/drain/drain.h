// Drain: releases everything that the operator holds, so that it can be uninstalled (tpu-slice-operator --drain).
//
// In this order: the admission configurations are deleted, so that no new pod gets the gate; the gate is removed from
// pod templates that may be changed; then from all pods, the pods of a slice together, the oldest slice first; scout
// pods are deleted; finalizers are removed. No other pod is deleted or restarted. Every write has the uid and the
// resourceVersion of what was read as preconditions.
//
// The operator must not run meanwhile: see lease.h.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/drain/report.h"
#include "controllers/drain/steps.h"

namespace tpuslice::drain {

/// A kind whose objects our controller gives a finalizer.
struct FinalizerKind {
  ResourceType type;
  std::string_view finalizer;
  /// The finalizer is not removed from a terminating object: the clean-up that it waits for would not be done.
  bool keep_on_terminating = false;
};

struct Options {
  StepOptions steps;
  std::string namespace_name;                        ///< Namespace of the operator, and of scout pods.
  std::vector<std::string> watch_namespaces;         ///< Namespaces of objects with finalizers; none: all.
  std::vector<FinalizerKind> finalizers;             ///< Finalizers of the kinds that the operator served.
  std::string configuration = "tpu-slice-operator";  ///< Name of all admission configurations and policies.
  /// How long API servers may still use a deleted configuration, so that pods with the gate are created.
  Duration settle = std::chrono::seconds(5);
};

class Drain {
 public:
  Drain(Api api, Options options) : api_(api), options_(std::move(options)) {}

  /// Ends early, with what was done so far, when the mutating webhook configuration cannot be deleted.
  [[nodiscard]] Report run(const std::stop_token& stop);

 private:
  /// False if the drain cannot go on.
  [[nodiscard]] bool delete_configurations(const std::stop_token& stop);
  [[nodiscard]] Status delete_configuration(const ResourceType& type, const std::stop_token& stop);
  void open_job_templates(const std::stop_token& stop);
  void open_stateful_set_templates(const std::stop_token& stop);
  void open_pods(Instant until, const std::stop_token& stop);
  void delete_scouts(const std::stop_token& stop);
  void remove_finalizers(const FinalizerKind& kind, const std::stop_token& stop);
  /// Jobs that run keep the gate in their template, which cannot be changed.
  void report_running_jobs(const std::stop_token& stop);
  [[nodiscard]] Status open_job_template(const Holder& job, const std::stop_token& stop);
  /// find_holders(); objects that are too long to be read are added to the report.
  [[nodiscard]] Result<std::vector<Holder>> find(const ResourceType& type, const client::ListOptions& list,
                                                 const std::function<std::optional<Holder>(const Object&)>& select,
                                                 const std::stop_token& stop);
  [[nodiscard]] Status merge(const ResourceType& type, const Holder& holder, const Json& patch,
                             const std::stop_token& stop);
  /// Whether an admission policy removes the gate from new pods (deploy/drain/gate-policy.yaml).
  [[nodiscard]] bool new_pods_lose_the_gate(const std::stop_token& stop);
  /// Adds what a step could not do; `patch` does it by hand.
  void add_remaining(const ResourceType& type, const StepResult& result,
                     const std::function<Json(const Holder&)>& patch);
  /// Once for each message.
  void add_error(const Error& error);
  void add_remaining(Remaining remaining);

  const Api api_;
  const Options options_;
  Report report_;
};

/// The merge patch that removes our gate from a pod: `kept` are its other gates.
[[nodiscard]] Json pod_patch(const Json& kept);
/// The same for a pod template. Also removes tpuslice.dev/mutated-by, so that a webhook mutates the pods of the
/// template again.
[[nodiscard]] Json template_patch(const Json& kept);

}  // namespace tpuslice::drain

// FailurePolicyPatcher: sets failurePolicy of the pod webhook to Fail once the API server reaches a replica
// (docs/adr/0033). It is installed with Ignore, so that pods with TPUs are admitted while no replica has ever served.
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "api/base/log.h"
#include "api/base/metrics.h"
#include "api/base/mutex.h"
#include "api/client/client.h"

namespace tpuslice::webhook {

/// Annotation of the mutating configuration: the failurePolicy that the pod webhook is to have, "Fail" or "Ignore".
/// Absent: Fail.
inline constexpr std::string_view kFailurePolicyAnnotation = "tpuslice.dev/failure-policy";

/// The pod webhook of a configuration.
struct FailurePolicyState {
  std::size_t index = 0;  ///< In `webhooks`.
  std::string current;    ///< "Fail" or "Ignore"
  std::string wanted;     ///< By the annotation.
  bool has_probe = false;
};

/// No value without a pod webhook. Errors: InvalidArgument for an annotation with another value.
[[nodiscard]] Result<std::optional<FailurePolicyState>> read_failure_policy(const Object& configuration);

/// The JSON patch that sets the policy to the wanted one. It fails if the configuration has changed.
[[nodiscard]] Json failure_policy_patch(const Object& configuration, const FailurePolicyState& state);

/// The JSON patch by which `field_manager` gives up the field in managedFields, so that an installer that applies its
/// manifest again, server-side, has no conflict. Empty if it does not own the field.
[[nodiscard]] Json disown_patch(const Object& configuration, std::string_view field_manager);

struct FailurePolicyOptions {
  std::string namespace_name;                       ///< Namespace of the probe.
  Duration retry = std::chrono::milliseconds(500);  ///< Until the policy is as wanted; doubles up to `check`.
  Duration check = std::chrono::seconds(30);        ///< Afterwards: an installer may have applied Ignore again.
  /// While the operator has no permission for it, as where the webhook is never to fail closed. Requests that are
  /// forbidden more often would count as a failure (alert TPUSliceRequestsForbidden).
  Duration check_forbidden = std::chrono::minutes(30);
};

/// One thread steps it; problem() is thread-safe. Every replica may have one: patches have the resourceVersion as
/// precondition.
class FailurePolicyPatcher {
 public:
  /// All arguments outlive it.
  FailurePolicyPatcher(FailurePolicyOptions options, client::Reader& reader, client::Writer& writer, Metrics& metrics,
                       Logger log);

  /// Sets the policy that is wanted; Fail only if this replica `serves` and the API server's call of the probe has
  /// reached one. Returns after which time the next step is due. What lasts for several steps is logged, once.
  Duration step(bool serves, const std::stop_token& stop) TPUSLICE_EXCLUDES(mutex_);
  /// Why the policy was not as wanted after the last step; empty if it was.
  [[nodiscard]] std::string problem() const TPUSLICE_EXCLUDES(mutex_);

 private:
  /// What is in the way; empty if the policy is as wanted.
  Result<std::string> reconcile(bool serves, const std::stop_token& stop);
  Result<bool> is_reached(const std::stop_token& stop);
  Result<Object> patch(const Json& operations, const std::stop_token& stop);
  Status give_up_field(const Object& configuration, const std::stop_token& stop);
  void publish(std::string_view policy);

  const FailurePolicyOptions options_;
  client::Reader& reader_;
  client::Writer& writer_;
  const Logger log_;
  Gauge& fail_;
  Gauge& ignore_;
  Duration retry_;
  int failed_ = 0;        ///< Steps in succession after which the policy was not as wanted.
  std::string reported_;  ///< The problem that was logged last.

  mutable Mutex mutex_;
  std::string problem_ TPUSLICE_GUARDED_BY(mutex_) = "not read yet";
};

}  // namespace tpuslice::webhook

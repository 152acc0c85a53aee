// WebhookAdmission: calls the admission webhooks that are configured in the simulated cluster.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/http/transport.h"
#include "api/sim/ids.h"
#include "api/sim/registry.h"
#include "api/sim/storage.h"

namespace tpuslice::sim {

/// Reads the webhook configurations from Storage at every request, as there are few, and calls those of a kind by the
/// name of their configuration.
///
///   WebhookAdmission webhooks(storage, connect);
///   registry.set_admission([&webhooks](const AdmissionRequest& request) { return webhooks.mutate(request); },
///                          [&webhooks](const AdmissionRequest& request) { return webhooks.validate(request); });
///
/// Thread-safe; holds no lock during a call.
class WebhookAdmission {
 public:
  /// A way to the server of a webhook's `clientConfig` (service or url, caBundle). Targets are paths from the root of
  /// that server. Errors fail the call as a refused connection does.
  using Connect = std::function<Result<std::shared_ptr<http::Transport>>(const Json& client_config)>;

  /// `storage` outlives it. `seed` makes the uids of the reviews.
  WebhookAdmission(const Storage& storage, Connect connect, std::uint64_t seed = 1);

  /// The object to write: `request.object` as the mutating webhooks changed it (the old one for DELETE).
  ///
  /// Errors: what a webhook answered ("admission webhook "x" denied the request: ..."), or InternalError where one with
  /// failurePolicy Fail could not be called.
  [[nodiscard]] Result<Json> mutate(const AdmissionRequest& request);
  /// Errors: likewise.
  [[nodiscard]] Status validate(const AdmissionRequest& request);

 private:
  const Storage& storage_;
  const Connect connect_;
  Ids ids_;
};

}  // namespace tpuslice::sim

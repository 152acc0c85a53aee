#include "cmd/tpu-slice-sim/admission/webhooks.h"

#include <fmt/format.h>

#include "api/types/patch.h"
#include "cmd/tpu-slice-sim/admission/matching.h"
#include "cmd/tpu-slice-sim/admission/review.h"

namespace tpuslice::sim {
namespace {

constexpr std::string_view kMutating = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
constexpr std::string_view kValidating = "validatingwebhookconfigurations.admissionregistration.k8s.io";

/// Truncates long warnings if a response has many, since clients print all of them.
void add_warnings(const AdmissionRequest& request, const std::vector<std::string>& warnings) {
  constexpr std::size_t kAll = 4096;
  constexpr std::size_t kEach = 256;
  if (request.options.warnings == nullptr) return;
  std::size_t total = 0;
  for (const std::string& warning : warnings) {
    total += warning.size();
    request.options.warnings->push_back(total > kAll ? warning.substr(0, kEach) : warning);
  }
}

/// One admission request through all webhooks.
class Round {
 public:
  Round(const Storage& storage, const WebhookAdmission::Connect& connect, Ids& ids, const AdmissionRequest& request)
      : storage_(storage), connect_(connect), ids_(ids), request_(request) {
    if (request.operation != "DELETE") object_ = request.object;
  }

  Status mutate() {
    struct Called {
      const Webhook* webhook;
      std::size_t changes_seen;  ///< Number of changes of the object when the call returned.
    };
    const std::vector<Webhook> webhooks = configured_webhooks(storage_, kMutating);
    std::vector<Called> called;
    for (const Webhook& webhook : webhooks) {
      ASSIGN_OR_RETURN(const bool invoked, call(webhook, true));
      if (invoked && string_at(*webhook.entry, {"reinvocationPolicy"}) == "IfNeeded") {
        called.push_back({&webhook, changes_});
      }
    }
    const std::size_t first_round = changes_;
    for (const Called& each : called) {
      if (each.changes_seen == first_round) continue;
      RETURN_IF_ERROR(call(*each.webhook, true));
    }
    return {};
  }

  Status validate() {
    for (const Webhook& webhook : configured_webhooks(storage_, kValidating)) RETURN_IF_ERROR(call(webhook, false));
    return {};
  }

  Json take() {
    if (request_.operation == "DELETE") return request_.old_object;
    return std::move(object_);
  }

 private:
  /// Returns whether the webhook was called. Errors: its refusal, or a failure that the policy does not ignore.
  Result<bool> call(const Webhook& webhook, bool mutating) {
    const Result<bool> matched = matches(webhook, request_, object_, storage_);
    if (!matched) return failed(webhook, matched.error());
    if (!*matched) return false;
    const std::string effects = string_at(*webhook.entry, {"sideEffects"});
    if (request_.options.dry_run && effects != "None" && effects != "NoneOnDryRun") {
      return Error::invalid_argument("admission webhook \"{}\" does not support dry run", webhook.name())
          .with_reason("BadRequest");
    }
    const Result<Verdict> verdict = ask(webhook);
    if (!verdict) return failed(webhook, verdict.error());
    add_warnings(request_, verdict->warnings);
    if (!verdict->allowed) return denied(webhook.name(), verdict->status);
    if (mutating) RETURN_IF_ERROR(change(webhook, verdict->patch));
    return true;
  }

  Result<Verdict> ask(const Webhook& webhook) {
    const std::string uid = ids_.uid();
    ASSIGN_OR_RETURN(const http::Request post, review_request(webhook, request_, object_, uid));
    ASSIGN_OR_RETURN(const std::shared_ptr<http::Transport> transport, connect_(webhook.entry->at("clientConfig")));
    if (transport == nullptr) return Error::unavailable("no way to the webhook's server");
    const Result<http::Response> response = transport->call(post, timeout_of(webhook), {});
    if (!response) return response.error();
    return read_review(*response, uid);
  }

  static Result<bool> failed(const Webhook& webhook, const Error& why) {
    if (webhook.ignores_failures()) return false;
    return Error::internal("Internal error occurred: failed calling webhook \"{}\": failed to call webhook: {}",
                           webhook.name(), why.message())
        .with_reason("InternalError");
  }

  /// A patch that cannot be applied is an error whatever the failure policy.
  Status change(const Webhook& webhook, const Json& patch) {
    if (patch.is_null() || object_.is_null()) return {};
    Result<Json> changed = apply_json_patch(object_, patch);
    if (!changed) {
      return Error::internal("Internal error occurred: patch of webhook \"{}\": {}", webhook.name(),
                             changed.error().message())
          .with_reason("InternalError");
    }
    if (*changed != object_) ++changes_;
    object_ = std::move(*changed);
    return {};
  }

  const Storage& storage_;
  const WebhookAdmission::Connect& connect_;
  Ids& ids_;
  const AdmissionRequest& request_;
  Json object_;
  std::size_t changes_ = 0;
};

}  // namespace

WebhookAdmission::WebhookAdmission(const Storage& storage, Connect connect, std::uint64_t seed)
    : storage_(storage), connect_(std::move(connect)), ids_(seed) {}

Result<Json> WebhookAdmission::mutate(const AdmissionRequest& request) {
  Round round(storage_, connect_, ids_, request);
  RETURN_IF_ERROR(round.mutate());
  return round.take();
}

Status WebhookAdmission::validate(const AdmissionRequest& request) {
  return Round(storage_, connect_, ids_, request).validate();
}

}  // namespace tpuslice::sim

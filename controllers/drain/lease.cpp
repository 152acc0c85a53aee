#include "controllers/drain/lease.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/pause.h"

namespace tpuslice::drain {
namespace {

constexpr std::string_view kOperatorSelector = "app.kubernetes.io/name=tpu-slice-operator";
constexpr Duration kPodsInterval = std::chrono::seconds(1);
constexpr Duration kReleaseLimit = std::chrono::seconds(5);

std::string scale_down(const std::string& namespace_name) {
  return fmt::format("stop the operator first: kubectl -n {} scale deployment/tpu-slice-operator --replicas=0",
                     namespace_name);
}

/// Time within which a pod is terminating after its Deployment was scaled down.
constexpr Duration kScaleDownLimit = std::chrono::seconds(10);

struct OperatorPod {
  ObjectKey key;
  bool terminating = false;
};

/// A pod that runs the operator, rather one that is not terminating; nothing if there is none.
Result<std::optional<OperatorPod>> find_operator_pod(client::Reader& reader, const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const client::ListPage page,
                   reader.list(kPods, {.label_selector = std::string(kOperatorSelector)}, stop));
  std::optional<OperatorPod> found;
  for (const std::string& text : page.items) {
    ASSIGN_OR_RETURN(Json json, parse_json(text));
    const Object pod(std::move(json));
    const std::string phase = string_at(pod.json(), {"status", "phase"});
    if (phase == "Succeeded" || phase == "Failed") continue;
    found = OperatorPod{pod.key(), pod.deletion_timestamp().has_value()};
    if (!found->terminating) break;
  }
  return found;
}

}  // namespace

Status wait_for_stopped_operator(client::Reader& reader, const Clock& clock, Duration limit,
                                 const std::stop_token& stop) {
  const Instant begun = clock.now();
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<OperatorPod> pod, find_operator_pod(reader, stop));
    if (!pod) return {};
    if (clock.now() - begun >= (pod->terminating ? limit : std::min(limit, kScaleDownLimit))) {
      return Error::conflict("pod {} runs the operator; {}", pod->key.to_string(), scale_down(pod->key.namespace_name));
    }
    pause(kPodsInterval, stop);
  }
}

OperatorLease::OperatorLease(runtime::ElectionOptions options, client::Reader& reader, client::Writer& writer,
                             const Clock& clock, Metrics& metrics, const Logger& log)
    : clock_(clock),
      name_(options.namespace_name + "/" + options.name),
      random_(std::hash<std::string>()(options.identity)),
      elector_(std::move(options), reader, writer, clock, random_, metrics, log) {}

Result<std::unique_ptr<OperatorLease>> OperatorLease::acquire(runtime::ElectionOptions options, client::Reader& reader,
                                                              client::Writer& writer, const Clock& clock,
                                                              Metrics& metrics, const Logger& log, Duration limit,
                                                              const std::stop_token& stop) {
  RETURN_IF_ERROR(wait_for_stopped_operator(reader, clock, limit, stop));
  std::unique_ptr<OperatorLease> lease(new OperatorLease(std::move(options), reader, writer, clock, metrics, log));
  RETURN_IF_ERROR(lease->wait(clock.now() + limit, stop));
  lease->renewal_ = std::jthread([owner = lease.get()](const std::stop_token& end) {
    owner->elector_.run(end, [] {});
    if (!end.stop_requested()) owner->lost_.request_stop();
  });
  return lease;
}

Status OperatorLease::wait(Instant until, const std::stop_token& stop) {
  while (true) {
    const Instant due = elector_.step(clock_.now(), stop);
    const Instant now = clock_.now();
    if (elector_.leading(now)) return {};
    if (stop.stop_requested()) return Error::of(ErrorCode::kCancelled, "lease {}: stopped", name_);
    if (now >= until) break;
    pause(std::min(due, until) - now, stop);
  }
  const std::string holder = elector_.holder();
  if (holder.empty()) return Error::unavailable("lease {} cannot be acquired; the log says why", name_);
  return Error::conflict("lease {} is held by {}; {}", name_, holder, scale_down(name_.substr(0, name_.find('/'))));
}

OperatorLease::~OperatorLease() {
  if (renewal_.joinable()) {
    renewal_.request_stop();
    renewal_.join();
  }
  std::stop_source end;
  std::jthread limit([&end](const std::stop_token& done) {
    pause(kReleaseLimit, done);
    end.request_stop();
  });
  elector_.release(end.get_token());
}

}  // namespace tpuslice::drain

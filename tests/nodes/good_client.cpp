#include "tests/nodes/good_client.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/base/pause.h"
#include "api/types/yaml.h"
#include "tests/nodes/two_host_slices.h"

namespace tpuslice::testing {
namespace {

constexpr Duration kPodInterval = std::chrono::milliseconds(200);
constexpr Duration kPollInterval = std::chrono::milliseconds(250);
constexpr ResourceType kJobSetType{"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"};

Json pod_of_ray_cluster() {
  Json pod = tpu::testing::RayPod{.topology = "2x4"}.json();
  for (Json& container : pod["spec"]["containers"]) container["image"] = "localhost/busybox:1";
  return pod;
}

/// Polls `condition` until it is true or a stop is requested.
template <typename Condition>
void wait_for(const Condition& condition, const std::stop_token& stop) {
  while (!stop.stop_requested() && !condition()) tpuslice::pause(kPollInterval, stop);
}

}  // namespace

GoodClient::GoodClient(client::Client& client)
    : client_(client),
      pods_([this](const std::stop_token& stop) { create_pods(stop); }),
      jobsets_([this](const std::stop_token& stop) { create_jobsets(stop); }) {}

void GoodClient::note(Kind kind, std::string message) {
  const Instant now = clock_.now();
  const MutexLock lock(mutex_);
  answers_.push_back({.at = now, .kind = kind, .message = std::move(message)});
}

void GoodClient::create_pods(const std::stop_token& stop) {
  const Json pod = pod_of_ray_cluster();
  while (!stop.stop_requested()) {
    const auto created = client_.create(kPods, Object(pod), {.dry_run = true}, stop);
    if (stop.stop_requested()) return;
    const std::string missing = created.ok() ? missing_identity(*created) : "";
    if (!created.ok()) {
      note(Kind::kRefused, created.error().message());
    } else if (!missing.empty()) {
      note(Kind::kWrong, fmt::format("a pod of a RayCluster was admitted without {}", missing));
    } else {
      note(Kind::kAdmitted);
    }
    tpuslice::pause(kPodInterval, stop);
  }
}

void GoodClient::create_jobsets(const std::stop_token& stop) {
  for (int number = 0; !stop.stop_requested(); ++number) {
    const std::string name = fmt::format("good-{}", number);
    const Instant created = clock_.now();
    wait_for([&] { return create_jobset(name); }, stop);
    wait_for([&] { return is_whole(name); }, stop);
    if (!stop.stop_requested()) {
      const Instant whole = clock_.now();
      const MutexLock lock(mutex_);
      runs_.push_back({.created = created, .whole = whole});
    }
    wait_for(
        [&] {
          // A garbage collector that finds the type missing, as just after a start of the API server, watches it again
          // 30 s later: it never sees that an object was removed meanwhile, but it sees one that is terminating.
          const Status removed = client_.remove(kJobSetType, {"default", name}, {.propagation = "Foreground"});
          return removed.ok() || removed.error().code() == ErrorCode::kNotFound;
        },
        stop);
    wait_for([&] { return is_gone(name); }, stop);
  }
}

bool GoodClient::create_jobset(const std::string& name) {
  const auto created = client_.create(kJobSetType, Object(parse_yaml(two_host_jobset(name)).value()));
  // It exists if an earlier attempt got no answer.
  return created.ok() || created.error().code() == ErrorCode::kAlreadyExists;
}

bool GoodClient::is_whole(const std::string& name) {
  const std::vector<Object> pods = live_pods(client_, "default", pods_of_slice(name));
  for (const Object& pod : pods) {
    const std::string missing = missing_identity(pod);
    if (missing.empty() || !wrong_pods_.insert(pod.uid()).second) continue;
    note(Kind::kWrong, fmt::format("pod {} was admitted without {}", pod.name(), missing));
  }
  return pods.size() == 2 && std::ranges::all_of(pods, is_running);
}

bool GoodClient::is_gone(const std::string& name) {
  const auto list = client_.list(kPods, {.namespace_name = "default", .label_selector = pods_of_slice(name)});
  return list.ok() && list->items.empty();
}

GoodClient::Answers GoodClient::answers_since(Instant since) const {
  const Instant now = clock_.now();
  Answers out;
  Instant admitted = since;
  const MutexLock lock(mutex_);
  for (const Answer& answer : answers_) {
    if (answer.at < since) continue;
    switch (answer.kind) {
      case Kind::kAdmitted:
        ++out.admitted;
        out.outage = std::max(out.outage, answer.at - admitted);
        admitted = answer.at;
        break;
      case Kind::kRefused:
        if (out.refused++ == 0) out.first_refusal = answer.message;
        out.until_last_refusal = answer.at - since;
        break;
      case Kind::kWrong:
        if (out.wrong++ == 0) out.first_wrong = answer.message;
        break;
    }
  }
  out.outage = std::max(out.outage, now - admitted);
  return out;
}

std::optional<Duration> GoodClient::first_run_since(Instant since) const {
  const MutexLock lock(mutex_);
  const auto run = std::ranges::find_if(runs_, [&](const Run& each) { return each.created >= since; });
  return run == runs_.end() ? std::nullopt : std::optional<Duration>(run->whole - since);
}

}  // namespace tpuslice::testing

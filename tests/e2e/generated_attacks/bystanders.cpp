#include "tests/e2e/generated_attacks/bystanders.h"

#include <stop_token>
#include <utility>

#include <fmt/format.h>

#include "api/base/pause.h"
#include "tests/e2e/attacks/attack_objects.h"
#include "tests/support/pods.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr Duration kAdmissionInterval = 75ms;
constexpr Duration kReactionInterval = 300ms;
constexpr Duration kPollInterval = 20ms;
constexpr const char* kQuiet = "quiet";
constexpr const char* kReviewer = "127.0.1.1";  // No attack comes from it.

double milliseconds(Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

}  // namespace

Result<std::unique_ptr<Bystanders>> Bystanders::start(AttackPlane& plane) {
  const Json quiet = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", kQuiet}}}};
  const auto created = plane.plane().client().create(kNamespaces, Object(quiet));
  if (!created) return created.error();
  std::unique_ptr<Bystanders> out(new Bystanders(plane));
  Bystanders& self = *out;
  self.threads_.emplace_back([&self](const std::stop_token& stop) { self.admit(stop); });
  self.threads_.emplace_back([&self](const std::stop_token& stop) { self.review(stop); });
  self.threads_.emplace_back([&self](const std::stop_token& stop) { self.react(stop); });
  return out;
}

BystanderFigures Bystanders::take() {
  const MutexLock lock(mutex_);
  if (asked_ && clock_.now() - *asked_ > kAnswerLimit) {
    ++figures_.refused;
    if (figures_.first_failure.empty()) figures_.first_failure = "a review has no answer";
  }
  return std::exchange(figures_, {});
}

void Bystanders::fail(int BystanderFigures::*counter, const std::string& message) {
  const MutexLock lock(mutex_);
  ++(figures_.*counter);
  if (figures_.first_failure.empty()) figures_.first_failure = message;
}

void Bystanders::set_asked(std::optional<Instant> time) {
  const MutexLock lock(mutex_);
  asked_ = time;
}

void Bystanders::admit(const std::stop_token& stop) {
  const Object pod = legitimate_pod();
  while (!stop.stop_requested()) {
    const int pauses = pauses_;
    const Instant begin = clock_.now();
    const auto admitted = client_.create(kPods, pod, {.dry_run = true}, stop);
    const Duration took = clock_.now() - begin;
    if (stop.stop_requested()) return;
    if (!counts(pauses)) {
      // The test itself restarted the operator.
    } else if (!admitted) {
      fail(&BystanderFigures::refused, admitted.error().message());
    } else if (tpu::testing::env_value(admitted->json(), "TPU_WORKER_ID") != "0") {
      fail(&BystanderFigures::refused, "the pod was not mutated");
    } else {
      const MutexLock lock(mutex_);
      figures_.admissions.push_back(milliseconds(took));
    }
    admit_control(stop);
    if (took < kAdmissionInterval) tpuslice::pause(kAdmissionInterval - took, stop);
  }
}

void Bystanders::admit_control(const std::stop_token& stop) {
  const int pauses = pauses_;
  const Json map = {{"apiVersion", "v1"},
                    {"kind", "ConfigMap"},
                    {"metadata", {{"name", "control"}, {"namespace", kQuiet}}},
                    {"data", {{"size", std::string(1000, 'x')}}}};
  const Instant begin = clock_.now();
  const bool created = client_.create(kConfigMaps, Object(map), {.dry_run = true}, stop).ok();
  const Duration took = clock_.now() - begin;
  if (!created || !counts(pauses)) return;
  const MutexLock lock(mutex_);
  figures_.controls.push_back(milliseconds(took));
}

void Bystanders::review(const std::stop_token& stop) {
  const std::string body = review_of(legitimate_pod().json().dump());
  std::unique_ptr<http::BlockingConnection> connection;
  while (!stop.stop_requested()) {
    const int pauses = pauses_;
    const Instant begin = clock_.now();
    set_asked(begin);
    // As the API server does: one connection, and a new one when it is closed.
    if (!connection) {
      auto connected = plane_.connect_to_webhook(kReviewer);
      if (connected) connection = std::move(*connected);
    }
    bool answered = false;
    if (connection) {
      const std::stop_callback ends(stop, [&] { connection->shut_down(); });
      answered = connection->post("/mutate-v1-pod", body).ok();
    }
    const Duration took = clock_.now() - begin;
    set_asked(std::nullopt);
    if (!answered) connection.reset();
    if (stop.stop_requested()) return;
    if (!counts(pauses)) {
      // As above.
    } else if (!answered) {
      fail(&BystanderFigures::refused, "a review was not answered");
    } else {
      const MutexLock lock(mutex_);
      figures_.reviews.push_back(milliseconds(took));
    }
    if (took < kAdmissionInterval) tpuslice::pause(kAdmissionInterval - took, stop);
  }
}

bool Bystanders::create_and_wait(int number, const std::stop_token& stop, Duration& took) {
  const std::string name = fmt::format("q{}", number);
  Object set = job_set(name, Json::array({replicated_job("w", 1)}));
  set.mutable_json()["metadata"]["namespace"] = kQuiet;
  set.mutable_json()["spec"]["suspend"] = true;
  const Instant begin = clock_.now();
  if (!client_.create(kJobSetType, set, {}, stop)) return false;
  bool found = false;
  while (!found && !stop.stop_requested() && clock_.now() - begin < kReactionLimit) {
    found = client_.get(kJobs, {kQuiet, name + "-w-0"}, stop).ok();
    took = clock_.now() - begin;
    if (!found) tpuslice::pause(kPollInterval, stop);
  }
  static_cast<void>(client_.remove(kJobSetType, set.key(), {}, stop));
  return found;
}

void Bystanders::react(const std::stop_token& stop) {
  for (int number = 0; !stop.stop_requested(); ++number) {
    const int pauses = pauses_;
    Duration took{};
    const bool reacted = create_and_wait(number, stop, took);
    if (stop.stop_requested()) return;
    if (!counts(pauses)) {
      // As above.
    } else if (!reacted) {
      fail(&BystanderFigures::ignored, fmt::format("JobSet q{} had no Job within 30 seconds", number));
    } else {
      const MutexLock lock(mutex_);
      figures_.reactions.push_back(milliseconds(took));
    }
    tpuslice::pause(kReactionInterval, stop);
  }
}

}  // namespace tpuslice::testing

// Two namespaces store all that they may; the operator stays within its memory, starts again, and serves a third one.
//
// TPUSLICE_MEMORY_FULL=1: with the budget of the shipped memory limit, which takes some minutes.
#include <atomic>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/memory/tenants_objects.h"
#include "tests/support/eventually.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

struct Size {
  const char* budget;
  double budget_mib;
  int objects;          ///< Of each kind and namespace.
  double max_peak_mib;  ///< The full size: of the shipped limit of 512 MiB. Otherwise with what does not scale.
};

Size size_of_test() {
  const char* full = std::getenv("TPUSLICE_MEMORY_FULL");  // NOLINT(concurrency-mt-unsafe): single-threaded
  return full == nullptr ? Size{"24Mi", 24, 8, 130} : Size{"192Mi", 192, 60, 300};
}

void create_namespace(client::Client& client, const std::string& name) {
  const auto created = client.create(
      kNamespaces, Object(Json{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}}));
  ASSERT_TRUE(created.ok()) << created.error().message();
}

/// The number of objects that were not created, and why the first was not.
std::pair<int, std::string> create_all(client::Client& client, const std::vector<StoredObject>& objects) {
  constexpr int kThreads = 6;
  std::atomic<std::size_t> next = 0;
  std::atomic<int> failed = 0;
  std::string first;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (std::size_t at = next++; at < objects.size(); at = next++) {
          const auto created = client.create(objects[at].type, objects[at].object);
          if (created.ok() || created.error().code() == ErrorCode::kAlreadyExists) continue;
          if (failed++ == 0) first = created.error().message();
        }
      });
    }
  }
  return {failed, first};
}

TEST(TheMemoryBudget, HoldsTwoNamespacesThatStoreAllThatTheyMay) {
  const Size size = size_of_test();
  auto started = ControlPlane::start({.scheduler = false, .kwok = false});
  if (!started && started.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << started.error().message();
  ASSERT_TRUE(started.ok()) << started.error().message();
  ControlPlane& plane = **started;
  client::Client& client = plane.client();
  const auto kubeconfig = install_operator(plane);
  ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();
  OperatorProcessOptions options;
  options.kubeconfig = *kubeconfig;
  options.log = plane.dir() + "/operator.log";
  options.flags = {fmt::format("--memory-budget={}", size.budget)};
  options.ready_limit = 120s;
  auto launched = OperatorProcess::start(options);
  ASSERT_TRUE(launched.ok()) << launched.error().message();
  OperatorProcess& op = **launched;
  for (const char* name : {"attacker-1", "attacker-2", "victim"}) create_namespace(client, name);

  for (const char* name : {"attacker-1", "attacker-2"}) {
    const std::vector<StoredObject> objects = objects_of_a_tenant(name, size.objects);
    const auto [failed, why] = create_all(client, objects);
    EXPECT_EQ(failed, 0) << "of " << objects.size() << ": " << why;
  }
  const auto budget_used = [&] { return op.metric("tpuslice_memory_budget_used_bytes").value_or(0) / (1 << 20); };
  EXPECT_TRUE(eventually([&] { return op.metric("tpuslice_store_minimal_objects").value_or(0) > 20; }));
  EXPECT_GT(budget_used(), size.budget_mib / 2);
  EXPECT_LE(budget_used(), size.budget_mib);
  const double first_peak = op.peak_resident_mib().value_or(1e6);

  const RealClock clock;
  const auto starts_within = [&](const std::string& name, Duration limit) {
    const Instant begin = clock.now();
    const auto created = client.create(kStoredJobSets, a_small_jobset("victim", name));
    EXPECT_TRUE(created.ok()) << created.error().message();
    const bool ran = eventually([&] { return client.get(kJobs, {"victim", name + "-workers-0"}).ok(); }, limit);
    return std::pair(ran, std::chrono::duration<double>(clock.now() - begin).count());
  };
  const auto [ran, seconds] = starts_within("before", 5s);
  EXPECT_TRUE(ran);

  ASSERT_TRUE(op.stop().ok());
  const Instant begin = clock.now();
  const Status restarted = op.restart();
  ASSERT_TRUE(restarted.ok()) << restarted.error().message();
  const double start_seconds = std::chrono::duration<double>(clock.now() - begin).count();
  EXPECT_TRUE(eventually([&] { return op.metric("leader_election_master_status").value_or(0) == 1; }));
  const auto [ran_again, seconds_again] = starts_within("after", 5s);
  EXPECT_TRUE(ran_again);
  EXPECT_LE(budget_used(), size.budget_mib);
  EXPECT_TRUE(eventually([&] {
    const auto events = client.raw({"GET", "/apis/events.k8s.io/v1/namespaces/attacker-2/events"});
    return events.ok() && events->body.find("MemoryBudgetExceeded") != std::string::npos;
  })) << "events name the objects";

  const double second_peak = op.peak_resident_mib().value_or(1e6);
  fmt::print(
      "budget {}: used {:.1f} MiB; peak {:.1f} MiB, after the restart {:.1f} MiB (ready in {:.1f} s); a JobSet of "
      "a third namespace started in {:.2f} s and {:.2f} s; {} objects minimal\n",
      size.budget, budget_used(), first_peak, second_peak, start_seconds, seconds, seconds_again,
      op.metric("tpuslice_store_minimal_objects").value_or(0));
  EXPECT_LE(first_peak, size.max_peak_mib);
  EXPECT_LE(second_peak, size.max_peak_mib);
  if (::testing::Test::HasFailure()) plane.keep_dir();
}

}  // namespace
}  // namespace tpuslice::testing

// Fifty JobSets of two slices in a queue with quota, and nodes, for ten at a time.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "controllers/jobset/rules/spec.h"
#include "tests/e2e/kueue/admission_order.h"
#include "tests/e2e/kueue/kueue_plane.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kJobSetCount = 50;
constexpr int kUrgent = 5;  ///< Of them: created when the first have the whole quota.
constexpr int kAtATime = 10;
constexpr const char* kFleetQueue = "fleet";

/// Requests of the operator to the API server since its start.
struct Costs {
  double cpu_seconds = 0;
  std::map<std::string, double> requests;  ///< By method.

  [[nodiscard]] double of(const std::string& method) const {
    const auto found = requests.find(method);
    return found == requests.end() ? 0 : found->second;
  }
};

class KueueFleet : public KueueTest {
 protected:
  void create_jobsets(int first, int count, const std::string& priority) {
    for (int i = first; i < first + count; ++i) {
      create(WorkloadKind::kJobSet, {.name = fmt::format("fleet-{:02}", i),
                                     .queue = kFleetQueue,
                                     .priority = priority,
                                     .hosts = 2,
                                     .topology = "2x4",
                                     .annotations = {{"sim.tpuslice.dev/complete-after", "5s"}}});
    }
  }

  void start_queue() {
    const auto started = client().patch(kClusterQueues, {"", kFleetQueue}, client::PatchType::kMerge,
                                        {{"spec", {{"stopPolicy", "None"}}}}, {});
    ASSERT_TRUE(started.ok()) << started.error().message();
  }

  void observe() {
    std::vector<Json> workloads;
    const auto list = client().list(kKueueWorkloads, {.namespace_name = "default"}, {});
    if (!list) return;
    for (const std::string& text : list->items) {
      Json workload = Json::parse(text);
      if (string_at(workload, {"spec", "queueName"}) == kFleetQueue) workloads.push_back(std::move(workload));
    }
    order_.observe(workloads, clock_.now());
    std::size_t bound = 0;
    for (const auto& [slice, members] : slices()) {
      bound += static_cast<std::size_t>(std::ranges::count_if(members, [](const Json& pod) {
        return !string_at(pod, {"spec", "nodeName"}).empty();
      }));
    }
    max_bound_ = std::max(max_bound_, bound);
  }

  bool observe_until(const std::function<bool()>& condition, Duration limit) {
    const Instant until = clock_.now() + limit;
    while (clock_.now() < until) {
      observe();
      if (condition()) return true;
      tpuslice::pause(250ms, {});
    }
    return false;
  }

  Costs costs() {
    Costs costs;
    costs.cpu_seconds = op().cpu_seconds().value_or(0);
    const auto samples = op().metrics();
    if (!samples) return costs;
    for (const MetricSample& sample : *samples) {
      if (sample.name != "rest_client_requests_total") continue;
      const auto method = sample.labels.find("method");
      if (method != sample.labels.end()) costs.requests[method->second] += sample.value;
    }
    return costs;
  }

  int completed_jobsets() {
    const auto list = client().list(jobset::kJobSets, {.namespace_name = "default"}, {});
    if (!list) return 0;
    return static_cast<int>(std::ranges::count_if(list->items, [](const std::string& text) {
      return string_at(Json::parse(text), {"status", "terminalState"}) == "Completed";
    }));
  }

  AdmissionOrder order_;
  std::size_t max_bound_ = 0;  ///< Pods with nodes that had not ended.
  const RealClock clock_;
};

TEST_F(KueueFleet, FiftyJobSetsOfTwoSlicesCompleteByPriorityThenAge) {
  create(make_queue({.name = kFleetQueue, .chips = kAtATime * 16, .topology = "2x4", .hold = true, .strict = true}));
  const Costs before = costs();
  create_jobsets(0, 15, "low");
  tpuslice::pause(1100ms, {});  // Ages are whole seconds.
  create_jobsets(15, 15, "middle");
  tpuslice::pause(1100ms, {});
  create_jobsets(30, 15, "middle");
  ASSERT_TRUE(eventually([&] { return completed_jobsets() == 0 && slices().empty(); }));
  observe();
  EXPECT_EQ(order_.reserved(), 0U) << "the queue is on hold";

  const Instant started = clock_.now();
  start_queue();
  ASSERT_TRUE(observe_until([&] { return order_.reserved() == kAtATime; }, kLimit));
  create_jobsets(kJobSetCount - kUrgent, kUrgent, "high");
  EXPECT_TRUE(observe_until([&] { return order_.finished() == kJobSetCount; }, 150s)) << order_.finished();
  const double seconds = std::chrono::duration<double>(clock_.now() - started).count();
  const Costs after = costs();

  EXPECT_EQ(completed_jobsets(), kJobSetCount);
  EXPECT_LE(max_bound_, static_cast<std::size_t>(kAtATime * 4)) << "the quota is for ten, of four hosts each";
  EXPECT_EQ(fmt::format("{}", fmt::join(order_.violations(1s), "\n")), "");
  const auto preempted = order_.preempted();
  EXPECT_FALSE(preempted.empty()) << "the urgent ones did not preempt any";
  EXPECT_LE(preempted.size(), static_cast<std::size_t>(kUrgent));
  for (const auto& [name, priority] : preempted)
    EXPECT_EQ(priority, 50) << name << ": none of priority low has started";

  const auto more = [&](const char* method) { return after.of(method) - before.of(method); };
  fmt::print(
      "50 JobSets of two slices, quota for 10: all complete after {:.1f} s, {} preempted; operator: {:.2f} s CPU, {} "
      "writes (POST {}, PATCH {}, PUT {}, DELETE {}), {} reads\n",
      seconds, preempted.size(), after.cpu_seconds - before.cpu_seconds,
      more("POST") + more("PATCH") + more("PUT") + more("DELETE"), more("POST"), more("PATCH"), more("PUT"),
      more("DELETE"), more("GET"));
}

}  // namespace
}  // namespace tpuslice::testing

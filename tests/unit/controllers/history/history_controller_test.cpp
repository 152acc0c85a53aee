#include "controllers/history/history_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_api.h"
#include "tests/support/slice/slices.h"

namespace tpuslice::history {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// A replica that leads and sees pods.
class HistoryObserver : public ::testing::Test {
 protected:
  HistoryObserver() {
    history_ = add_history(manager_, metrics_, stores_, "tpu-slice-system");
    manager_.step(clock_.now());
  }
  static runtime::ManagerOptions options() {
    runtime::ManagerOptions options;
    options.leader_elect = false;
    options.action_threads = 0;
    return options;
  }
  void show(const slice::SliceBuilder& slice) {
    for (const auto& pod : slice.pods()) pods_.put(*pod);
  }

  FakeClock clock_;
  Metrics metrics_;
  testing::FakeApi api_;
  runtime::PodStore pods_{kPods};
  runtime::NodeStore nodes_{kNodes};
  slice::SliceStores stores_{.pods = runtime::PodStores{{&pods_}}, .nodes = nodes_, .workloads = nullptr};
  runtime::Manager manager_{{api_, api_}, {api_, api_}, clock_, metrics_, Logger(), options()};
  History history_;
};

/// Regression: a slice whose hosts have readiness probes, such as the workers of Ray, was never observed.
TEST_F(HistoryObserver, SeesASliceStartBeforeItsHostsAreReady) {
  const auto not_ready = [](PodView& pod) { pod.not_ready = true; };
  const auto slice = slice::a_slice("train").runs_in("pool-a");
  show(slice::SliceBuilder(slice).unscheduled(0).unscheduled(1));
  show(slice::SliceBuilder(slice).unscheduled(1).host(0, not_ready));
  EXPECT_THAT(metrics_.scrape(), ::testing::Not(HasSubstr("tpuslice_slice_start_seconds_count")));
  show(slice::SliceBuilder(slice).host(1, not_ready));
  show(slice);
  EXPECT_THAT(metrics_.scrape(), HasSubstr("tpuslice_slice_start_seconds_count{accelerator=\"tpu-v6e-slice\"} 1\n"));
}

}  // namespace
}  // namespace tpuslice::history

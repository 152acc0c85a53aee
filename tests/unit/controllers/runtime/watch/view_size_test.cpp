#include "controllers/runtime/watch/view_size.h"

#include <malloc.h>

#include <memory>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tpuslice::runtime {
namespace {

std::string running_pod(int number, const std::string& extra = {}) {
  return fmt::format(
      R"({{"metadata":{{"name":"train-workers-0-{0}-abcde","namespace":"research-team","uid":"6b1c6d0e-0000-0000-0000-{0:012}",
      "resourceVersion":"123456{0}","labels":{{"jobset.sigs.k8s.io/jobset-name":"train","jobset.sigs.k8s.io/replicatedjob-name":"workers",
      "batch.kubernetes.io/job-completion-index":"{0}","tpuslice.dev/slice":"train-workers-0"}},
      "ownerReferences":[{{"apiVersion":"batch/v1","kind":"Job","name":"train-workers-0","uid":"owner-uid-of-the-job-in-this-test","controller":true}}]}},
      "spec":{{"nodeName":"gke-tpu-node-{0}","restartPolicy":"Never","nodeSelector":{{"cloud.google.com/gke-tpu-accelerator":"tpu-v6e-slice"}}}},
      "status":{{"phase":"Running","podIP":"10.0.0.{0}"{1}}}}})",
      number, extra);
}

TEST(TheSizeOfAView, CountsMessagesThatUsersAndKubeletsWrite) {
  const PodView plain = PodView::decode(running_pod(1)).value();
  const std::string message(3000, 'm');
  const PodView verbose =
      PodView::decode(
          running_pod(1, fmt::format(R"(,"message":"{0}","containerStatuses":[{{"name":"main","state":{{"waiting":
          {{"reason":"CreateContainerError","message":"{0}"}}}}}}])",
                                     message)))
          .value();
  EXPECT_GT(view_size(verbose), view_size(plain) + 2 * message.size() + 256)
      << "status, container, and PodView::stuck, which is shorter";
}

TEST(TheSizeOfAView, CountsEachLabel) {
  PodView view = PodView::decode(running_pod(1)).value();
  const std::size_t before = view_size(view);
  for (int i = 0; i < 100; ++i) {
    view.labels.emplace(fmt::format("example.com/a-label-with-number-{}", i), std::string(63, 'x'));
  }
  EXPECT_GT(view_size(view), before + 100 * (30 + 63 + 64)) << "texts of their own, and their counters";
}

TEST(TheSizeOfAView, SharesTextsWithThoseThatHaveThem) {
  PodView alone;
  alone.labels = {{SharedString(std::string(200, 'k')), SharedString(std::string(200, 'v'))}};
  const std::size_t unshared = view_size(alone);
  const std::vector<PodView> sharers(10, alone);
  EXPECT_LT(view_size(alone), unshared);
  EXPECT_GT(view_size(alone), unshared - 2 * 300) << "a part of each text";
}

TEST(TheSizeOfAView, GrantsALimitedDiscount) {
  ObjectView alone;
  alone.text = "{}";
  for (int i = 0; i < 1000; ++i) alone.labels.emplace(SharedString(fmt::format("{:0200}", i)), SharedString("v"));
  const std::size_t unshared = view_size(alone);
  const std::vector<ObjectView> sharers(10, alone);
  EXPECT_EQ(view_size(alone), unshared - 4096) << "sharers may be deleted";
}

TEST(TheSizeOfAView, CountsAWholeObjectByItsText) {
  ObjectView view;
  const std::size_t empty = view_size(view);
  view.text = std::string(100'000, 'x');
  EXPECT_GE(view_size(view), empty + 100'000);
  EXPECT_LT(view_size(view), empty + 101'000);
}

// Sanitizers have an allocator of their own.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

TEST(TheSizeOfAView, IsAboutWhatTheAllocatorGives) {
  constexpr int kPods = 2000;
  std::vector<std::shared_ptr<const PodView>> views;
  views.reserve(kPods);
  (void)PodView::decode(running_pod(0));  // Buffers of the decoder.
  const std::size_t before = mallinfo2().uordblks;
  std::size_t counted = 0;
  for (int i = 0; i < kPods; ++i) {
    PodView view = PodView::decode(running_pod(i)).value();
    counted += view_size(view);
    views.push_back(std::make_shared<const PodView>(std::move(view)));
  }
  const auto taken = static_cast<double>(mallinfo2().uordblks - before);
  EXPECT_GT(static_cast<double>(counted), 0.9 * taken);
  EXPECT_LT(static_cast<double>(counted), 2.0 * taken) << "entries of store and indexes are not in this test";
}

#endif

}  // namespace
}  // namespace tpuslice::runtime

// Slices on a real control plane: many of them, too few whole pools, and an operator that dies and sleeps in between.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/base/pause.h"
#include "api/types/yaml.h"
#include "tests/e2e/slices/slice_plane.h"
#include "tests/e2e/slices/slice_workloads.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kBroken = 5;  ///< Pools with a cordoned node.
/// A control plane that shares two cores with ten others needs a minute for what takes it two seconds alone.
constexpr Duration kPatience = 240s;
constexpr Duration kAsleep = 2s;  ///< Far from the 10 s within which the lease must be renewed.

std::string waiting_of(const Json& pod) { return string_at(pod, {"metadata", "annotations", tpu::kWaiting}); }
std::string created(const std::vector<Json>& pods) {
  std::string first = "9";
  for (const Json& pod : pods) first = std::min(first, string_at(pod, {"metadata", "creationTimestamp"}));
  return first;
}

class Slices : public SlicePlane {
 protected:
  /// When each slice that waits, or each that has nodes, was created.
  std::vector<std::string> creation_times(bool placed) {
    std::vector<std::string> times;
    for (const auto& [slice, pods] : slices()) {
      if (string_at(pods.front(), {"spec", "nodeName"}).empty() != placed) times.push_back(created(pods));
    }
    std::ranges::sort(times);
    return times;
  }

  /// Every waiting slice has a waiting reason that contains `text`.
  void expect_reasons(const std::string& text) {
    std::string missing;
    const bool found = eventually([&] {
      missing.clear();
      for (const auto& [slice, pods] : slices()) {
        if (!string_at(pods.front(), {"spec", "nodeName"}).empty()) continue;
        const auto reason = std::ranges::find_if(pods, [](const Json& pod) { return !waiting_of(pod).empty(); });
        const std::string written = reason == pods.end() ? "no reason" : waiting_of(*reason);
        if (written.find(text) == std::string::npos) missing = fmt::format("{} has {}", slice, written);
      }
      return missing.empty();
    });
    EXPECT_TRUE(found) << missing << "; expected: " << text;
  }
};

class SlicesOfKind : public Slices, public ::testing::WithParamInterface<SliceKind> {
 protected:
  void SetUp() override {
    Slices::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const bool served = eventually([&] { return client().list(kind().type, {.namespace_name = "default"}, {}).ok(); });
    ASSERT_TRUE(served) << kind().type.plural << " are not served";
  }

  void TearDown() override {
    for (const auto& [type, name] : std::exchange(created_, {})) {
      const Status removed = client().remove(type, {"default", name});
      EXPECT_TRUE(removed.ok() || removed.error().code() == ErrorCode::kNotFound) << removed.error().message();
    }
    EXPECT_TRUE(eventually([&] { return slices().empty(); })) << "pods are left";
    Slices::TearDown();
  }

  [[nodiscard]] const SliceKind& kind() const { return GetParam(); }
  [[nodiscard]] std::string name_of(int number) const { return fmt::format("{}-{:02}", kind().prefix, number); }

  void make(int number) {
    const std::string name = name_of(number);
    const auto documents = parse_yaml_documents(kind().manifest(name));
    ASSERT_TRUE(documents.ok()) << documents.error().message();
    for (const YamlDocument& document : *documents) {
      Object object(document.value);
      object.mutable_json()["metadata"]["namespace"] = "default";
      const ResourceType& type = object.kind() == "Service" ? kServices : kind().type;
      const auto created = client().create(type, object);
      ASSERT_TRUE(created.ok()) << created.error().message();
      created_.emplace_back(type, name);
    }
  }

  void remove_numbers(int first, int end) {
    for (int i = first; i < end; ++i) remove(kind().type, name_of(i));
  }

  void expect(const std::string& when, const SliceCounts& counts) {
    expect_counts(fmt::format("{}: {}", kind().name, when), counts, kPatience);
  }

 private:
  std::vector<std::pair<ResourceType, std::string>> created_;
};

// Fifteen slices where fifteen fit, fifteen more that have to wait, then room for five, then for three.
TEST_P(SlicesOfKind, ArePlacedWholeOrNotAtAll) {
  cordon_in(kBroken);
  for (int i = 0; i < 15; ++i) {
    ASSERT_NO_FATAL_FAILURE(make(i));
    if (kind().kill_operator && i == 4) op().kill();
    if (kind().kill_operator && i == 8) {
      ASSERT_TRUE(op().restart().ok());
    }
  }
  expect(fmt::format("15 slices, 20 pools of which 5 have a cordoned node{}",
                     kind().kill_operator ? ", operator killed meanwhile" : ""),
         {.whole = 15});
  for (int i = 15; i < 30; ++i) ASSERT_NO_FATAL_FAILURE(make(i));
  // Nothing is created by the test meanwhile: the API server would wait for the webhook, perhaps until the lease ends.
  op().pause();
  pause(kAsleep, {});
  op().resume();
  expect("15 more, operator asleep for the last of them", {.whole = 15, .waiting = 15});
  expect_reasons("20 node pools match, none is free: v6e-00: node v6e-00-1 is cordoned; ");

  cordon_in(kBroken, false);
  expect("the five nodes are back", {.whole = 20, .waiting = 10});
  EXPECT_LE(creation_times(true).back(), creation_times(false).front()) << "oldest first";
  remove_numbers(0, 3);
  expect("three workloads are deleted", {.whole = 20, .waiting = 7});
  EXPECT_LE(creation_times(true).back(), creation_times(false).front()) << "oldest first";
  remove_numbers(3, 30);
  expect("all are deleted", {});
}

INSTANTIATE_TEST_SUITE_P(Kinds, SlicesOfKind, ::testing::ValuesIn(slice_kinds()),
                         [](const auto& kind) { return kind.param.name; });

// The same with affinities only, for comparison with gates. The scheduler chooses which slices get broken pools, so
// their number is printed but not checked.
TEST_F(Slices, WithoutGatesMayRunPartly) {
  cordon_in(kBroken);
  for (int i = 0; i < 15; ++i) create_ray_cluster(fmt::format("ray-{:02}", i), "tpuslice.dev/gating: \"off\"");
  SliceCounts counts;
  const RealClock clock;
  Instant changed = clock.now();
  const bool all_scheduled = eventually(
      [&] {
        const SliceCounts now = count();
        if (now != counts) changed = clock.now();
        counts = now;
        // A slice is partly scheduled for a moment while its pods are bound.
        return counts.whole + counts.partly == 15 && clock.now() - changed > 3s;
      },
      60s);
  EXPECT_TRUE(all_scheduled) << ::testing::PrintToString(counts);
  const SliceCounts before = counts;
  const bool freed = eventually(
      [&] {
        counts = count();
        return counts.partly < before.partly;
      },
      20s);
  EXPECT_FALSE(freed);
  fmt::print("affinities only: {} whole, {} half-placed, {} waiting\n", counts.whole, counts.partly, counts.waiting);
}

TEST_F(Slices, OfAnIndexedJobRestartTogetherIfOneHostFails) {
  create_job("train");
  expect_counts("a Job", {.whole = 1}, 60s);
  std::set<std::string> before;
  const auto alive = slices();
  for (const Json& pod : alive.begin()->second) before.insert(Object(pod).uid());
  evict(Object(alive.begin()->second[2]).name());
  const bool recreated = eventually([&] {
    const auto now = slices();
    return now.size() == 1 && now.begin()->second.size() == kHosts && count().whole == 1 &&
           std::ranges::none_of(now.begin()->second,
                                [&](const Json& pod) { return before.contains(Object(pod).uid()); });
  });
  EXPECT_TRUE(recreated);
  std::string notes;
  const bool reported = eventually([&] {
    notes = notes_of("SliceTornDown");
    return notes.find("Slice train-0 is torn down, 3 of its 4 pods are deleted: host 2: pod train-2-") !=
           std::string::npos;
  });
  EXPECT_TRUE(reported) << notes;
}

}  // namespace
}  // namespace tpuslice::testing

#include "controllers/placement/scale_up/autoscaler_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"
#include "tests/unit/controllers/placement/scenes.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;

constexpr const char* kUpdated = "cluster-autoscaler.kubernetes.io/last-updated";

/// As the store shows it, with this annotation; null: without one.
bool found(const char* last_updated, Duration now, const char* name = "cluster-autoscaler-status",
           const char* space = "kube-system") {
  Json json = {{"apiVersion", "v1"},
               {"kind", "ConfigMap"},
               {"metadata", {{"name", name}, {"namespace", space}, {"uid", "u"}, {"resourceVersion", "7"}}},
               {"data", {{"status", "time: 2026-01-01 00:00:00 +0000 UTC"}}}};
  if (last_updated != nullptr) json["metadata"]["annotations"][kUpdated] = last_updated;
  ConfigMapStore store(kConfigMaps);
  store.put(MetadataView::decode(json.dump()).value());
  return has_autoscaler(store, after(now));
}

TEST(HasAutoscaler, NeedsItsConfigMap) {
  EXPECT_FALSE(has_autoscaler(ConfigMapStore(kConfigMaps), after(0s)));
  EXPECT_TRUE(found(nullptr, 1h)) << "it does not say when it was updated";
  EXPECT_FALSE(found(nullptr, 1h, "cluster-autoscaler-other"));
  EXPECT_FALSE(found(nullptr, 1h, "cluster-autoscaler-status", "default"));
}

TEST(HasAutoscaler, NeedsAnUpdateWithinFiveMinutes) {
  for (const char* text : {"2026-01-01 00:00:00 +0000 UTC", "2026-01-01 00:00:00.000000001 +0000 UTC",
                           "2026-01-01 00:00:00.123 +0000 UTC m=+12.5"}) {
    EXPECT_TRUE(found(text, 0s)) << text;
    EXPECT_TRUE(found(text, 5min - 1s)) << text;
    EXPECT_FALSE(found(text, 5min)) << text;
  }
}

TEST(HasAutoscaler, ToleratesClocksThatDiffer) { EXPECT_TRUE(found("2026-01-01 01:00:00 +0000 UTC", 0s)); }

TEST(HasAutoscaler, BelievesATimeThatItCannotRead) {
  for (const char* text : {"", "nonsense", "2026-01-01", "2026-01-01 00:00:00 -0700 PDT",
                           "2026-13-45 99:99:99 +0000 UTC", " +0000", "0123456789012345678901234567890 +0000"}) {
    EXPECT_TRUE(found(text, 24h)) << text;
  }
}

TEST(MetadataViewOfAConfigMap, KeepsItsAnnotationsWhateverOthersKeep) {
  const KeptKeys ours = {"tpuslice.dev/"};
  const MetadataView view = MetadataView::decode(R"({"metadata": {"name": "n", "namespace": "s", "uid": "u",
    "resourceVersion": "3", "deletionTimestamp": "2026-01-01T00:00:00Z",
    "annotations": {"cluster-autoscaler.kubernetes.io/last-updated": "x"}}})",
                                                 &ours)
                                .value();
  EXPECT_EQ(view.annotations.at(kUpdated), "x");
  EXPECT_EQ(view.key, (ObjectKey{"s", "n"}));
  EXPECT_EQ(view.resource_version, "3");
  EXPECT_TRUE(view.deletion.has_value());
}

TEST(MetadataViewOfAConfigMap, NeedsAName) {
  EXPECT_THAT(MetadataView::decode("{}"), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(MetadataView::decode("nonsense"), IsError(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace tpuslice::placement

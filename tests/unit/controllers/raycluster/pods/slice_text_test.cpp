#include "controllers/raycluster/pods/slice_text.h"

#include <gtest/gtest.h>

namespace tpuslice::raycluster {
namespace {

Json pod_of_host0() {
  return Json::parse(R"({
    "metadata": {"annotations": {"tpuslice.dev/slice-host": "0"}, "labels": {"ray.io/replica-host-index": "0"},
                 "name": "c-0-0"},
    "spec": {"containers": [{"env": [{"name": "TPU_WORKER_ID", "value": "0"}], "name": "a"},
                            {"env": [{"name": "TPU_WORKER_ID", "value": "1"}], "name": "b"}],
             "hostname": "g-0-0"}})");
}

const Json kCommon = Json::parse(R"({"spec": {"containers": [{"name": "a"}, {"name": "b"}]}})");

TEST(SliceText, HasTheFieldsOfEachHost) {
  const std::optional<SliceText> text = SliceText::make(pod_of_host0(), kCommon);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->of({0, "c-0-0", "g-0-0"}), pod_of_host0().dump());
  Json third = pod_of_host0();
  third["metadata"]["name"] = "c-0-3-x";
  third["metadata"]["labels"]["ray.io/replica-host-index"] = "3";
  third["metadata"]["annotations"]["tpuslice.dev/slice-host"] = "3";
  third["spec"]["hostname"] = "g-0-3";
  third["spec"]["containers"][0]["env"][0]["value"] = "6";
  third["spec"]["containers"][1]["env"][0]["value"] = "7";
  EXPECT_EQ(text->of({3, "c-0-3-x", "g-0-3"}), third.dump());
}

TEST(SliceText, LeavesWhatTheTemplateSets) {
  Json common = kCommon;
  common["spec"]["hostname"] = "mine";
  common["metadata"]["annotations"]["tpuslice.dev/slice-host"] = "0";
  common["spec"]["containers"][0]["env"] = {{{"name", "TPU_WORKER_ID"}, {"value", "0"}}};
  const std::string text = SliceText::make(pod_of_host0(), common)->of({2, "n", "h"});
  const Json pod = Json::parse(text);
  EXPECT_EQ(pod["spec"]["hostname"], "g-0-0");
  EXPECT_EQ(pod["metadata"]["annotations"]["tpuslice.dev/slice-host"], "0");
  EXPECT_EQ(pod["spec"]["containers"][0]["env"][0]["value"], "0");
}

TEST(SliceText, IsNotMadeOfTextThatCouldBeAMark) {
  Json pod = pod_of_host0();
  pod["spec"]["containers"][0]["env"][0]["value"] = "\x01";
  EXPECT_FALSE(SliceText::make(pod, kCommon));
}

}  // namespace
}  // namespace tpuslice::raycluster

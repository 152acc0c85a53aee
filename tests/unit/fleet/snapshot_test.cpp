#include "fleet/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/model.h"
#include "tests/support/error_matchers.h"
#include "tests/support/fleet_document.h"

namespace tpuslice::fleet {
namespace {

using testing::FleetDocument;
using ::testing::HasSubstr;
using ::testing::Not;

FleetDocument a_document() {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).pool({.name = "v6e-b", .not_ready = {2}});
  document.slice({.workload = "train", .pool = "v6e-a"}).slice({.workload = "next", .priority = 3});
  return document;
}

TEST(Snapshot, IsTheSameAfterItWasTrimmed) {
  const Json document = a_document().json();
  const Json trimmed = trimmed_snapshot(document);
  const Snapshot before = *read_snapshot(document);
  const Snapshot after = *read_snapshot(trimmed);
  ASSERT_EQ(before.pods.size(), after.pods.size());
  for (std::size_t i = 0; i < before.pods.size(); ++i) EXPECT_EQ(*before.pods[i], *after.pods[i]);
  for (std::size_t i = 0; i < before.nodes.size(); ++i) EXPECT_EQ(*before.nodes[i], *after.nodes[i]);
  EXPECT_EQ(build_fleet(before), build_fleet(after));
  EXPECT_EQ(trimmed_snapshot(trimmed), trimmed);
}

TEST(Snapshot, ItemsOfAnApiServerNeedNoKind) {
  Json document = a_document().json();
  document["preemptions"] = {{"metadata", {{"name", "x"}, {"uid", "u"}}},
                             {"data", {{"tpu-v6e-slice", "1 2026-01-01T11:30:00Z"}}}};
  for (const char* list : {"nodes", "pods"}) {
    for (Json& item : document[list]) item.erase("kind");
  }
  const Snapshot snapshot = *read_snapshot(trimmed_snapshot(document));
  EXPECT_EQ(snapshot.preemptions->data.size(), 1U);
  EXPECT_EQ(*snapshot.pods.front(), *read_snapshot(a_document().json())->pods.front());
}

TEST(Snapshot, HasNothingThatNoDecoderReads) {
  Json pod = a_document().json()["pods"][0];
  pod["spec"]["containers"][0]["env"] = Json::array({Json{{"name", "PASSWORD"}, {"value", "secret"}}});
  pod["spec"]["containers"][0]["image"] = "registry.example/secret";
  pod["spec"]["volumes"] = Json::array({Json{{"name", "secret"}}});
  pod["metadata"]["annotations"]["example.com/secret"] = "secret";
  pod["metadata"]["labels"]["example.com/secret"] = "secret";
  pod["metadata"]["managedFields"] = Json::array({Json{{"manager", "secret"}}});
  EXPECT_THAT(trimmed(pod).dump(), Not(HasSubstr("secret")));
}

TEST(Snapshot, ReadsTheNodesThatKubectlPrints) {
  const Json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", a_document().json()["nodes"]}};
  const auto snapshot = read_snapshot(list, FleetDocument::now());
  ASSERT_TRUE(snapshot.ok()) << snapshot.error().message();
  EXPECT_EQ(snapshot->nodes.size(), 8U);
  EXPECT_EQ(snapshot->time, FleetDocument::now());
  EXPECT_TRUE(snapshot->is_complete());
}

TEST(Snapshot, ReadsTheOptionsOfTheOperator) {
  const Json options = {
      {"scaleUp", "scout"},      {"maxPreemptionsPerHour", 4},
      {"topologyKey", "rack"},   {"reservationSeconds", 60},
      {"reservationPercent", 7}, {"capacityOrder", Json::array({"spot", "on-demand", "reservation"})}};
  Json document = a_document().json();
  document["options"] = options;
  const Snapshot snapshot = *read_snapshot(document);
  EXPECT_EQ(snapshot.options.scale_up.mode, placement::ScaleUp::kScout);
  EXPECT_EQ(snapshot.options.max_preemptions_per_hour, 4U);
  EXPECT_EQ(snapshot.options.capacity_order, (placement::CapacityOrder{2, 1, 0}));
  EXPECT_EQ(snapshot.topology_key, "rack");
  document["options"] = write_options(snapshot);
  EXPECT_EQ(write_options(*read_snapshot(document)), write_options(snapshot));
}

TEST(Snapshot, ErrorsNameTheField) {
  Json document = a_document().json();
  EXPECT_THAT(read_snapshot({{"schema", "tpuslice.dev/snapshot.v9"}}).error().message(), HasSubstr("schema: "));
  document["options"]["scaleUp"] = "always";
  EXPECT_THAT(read_snapshot(document).error().message(), HasSubstr("options.scaleUp: Invalid value: \"always\""));
  document["options"] = {{"capacityOrder", Json::array({"spot", "spot"})}};
  EXPECT_THAT(read_snapshot(document).error().message(), HasSubstr("options.capacityOrder"));
  document = a_document().json();
  document["nodes"][1] = 5;
  EXPECT_THAT(read_snapshot(document).error().message(), HasSubstr("nodes[1]: "));
  document = a_document().json();
  document["time"] = "noon";
  EXPECT_THAT(read_snapshot(document).error().message(), HasSubstr("time: "));
  document = a_document().json();
  document["history"] = Json::array({Json{{"what", "TornDown"}}});
  EXPECT_THAT(read_snapshot(document).error().message(), HasSubstr("history[0]: time: "));
}

TEST(Snapshot, KeepsAMinimalViewOfAMalformedPod) {
  Json document = a_document().json();
  document["pods"][0]["spec"]["nodeSelector"] = 7;
  const Snapshot snapshot = *read_snapshot(document);
  EXPECT_TRUE(snapshot.pods.front()->minimal);
  EXPECT_EQ(snapshot.pods.front()->node_name, "v6e-a-0");
}

TEST(Snapshot, KeepsPodsWithAnAffinityOfAnotherType) {
  Json document = a_document().json();
  const char* const required = "requiredDuringSchedulingIgnoredDuringExecution";
  for (const Json& odd : {Json("x"), Json::array({"x"}), Json{{"nodeSelectorTerms", "x"}}, Json(nullptr)}) {
    document["pods"][0]["spec"]["affinity"]["nodeAffinity"][required] = odd;
    const auto snapshot = read_snapshot(document);
    ASSERT_TRUE(snapshot.ok()) << odd;
    EXPECT_EQ(snapshot->pods.size(), 8U) << odd;
  }
}

TEST(Snapshot, ReadsPodsAsTheirControllersCreatedThem) {
  Json document = a_document().json();
  Json& pod = document["pods"][0];
  pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] =
      Json::array({Json{{"matchFields", Json::array({Json{{"key", "metadata.name"}}})}}});
  const Snapshot snapshot = *read_snapshot(document);
  const auto found = snapshot.as_created.find(snapshot.pods.front()->uid);
  ASSERT_NE(found, snapshot.as_created.end());
  const PodView& view = *found->second;
  EXPECT_TRUE(placement::is_gated(view));
  EXPECT_EQ(view.node_name, "");
  EXPECT_EQ(view.scheduling->node_affinity, "");
  EXPECT_EQ(view.scheduling->tolerations.size(), 1U);
  EXPECT_EQ(value_of(view.scheduling->node_selector, tpu::kNodePoolLabel), "");
  EXPECT_EQ(value_of(view.scheduling->node_selector, tpu::kTopologyLabel), "4x4");
  EXPECT_EQ(view.annotation(tpu::kSliceMembers), "");
  EXPECT_EQ(view.annotation(tpu::kSliceHosts), "4");
}

TEST(HistoryRecords, AreReadLineByLineAndWrittenAgain) {
  const std::string line =
      R"({"time":"2026-01-01T02:14:00Z","namespace":"ml","kind":"RayJob","name":"a","what":"TornDown","host":2,)"
      R"("exitCode":137,"lostHostSeconds":99,"backAfterSeconds":8,"backOn":"v6e-a"})";
  const auto records = read_history_lines("garbage\n" + line + "\n{}\n");
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].exit_code, 137);
  EXPECT_EQ(write_history_record(records[0]), Json::parse(line));
}

}  // namespace
}  // namespace tpuslice::fleet

#include "cmd/tpu-slice-sim/table/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/tpu-slice-sim/table/builtin_columns.h"
#include "cmd/tpu-slice-sim/table/json_path.h"
#include "tests/support/error_matchers.h"

namespace tpuslice::sim {
namespace {

Json container(const char* state, const Json& what, bool ready = false) {
  return {{"name", "main"}, {"ready", ready}, {"restartCount", 0}, {"state", {{state, what}}}};
}

Json pod_with(const std::string& phase, const Json& containers) {
  return {{"metadata", {{"name", "p"}}},
          {"spec", {{"containers", Json::array({{{"name", "main"}}})}}},
          {"status", {{"phase", phase}, {"containerStatuses", containers}}}};
}

TEST(Table, PrintsThePodStatusOfKubectl) {
  Json deleting = pod_with("Running", Json::array({container("running", Json::object(), true)}));
  deleting["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  Json gated = pod_with("Pending", Json::array());
  gated["status"]["conditions"] = Json::array({{{"type", "PodScheduled"}, {"reason", "SchedulingGated"}}});
  Json evicted = pod_with("Failed", Json::array());
  evicted["status"]["reason"] = "Evicted";
  Json initializing = pod_with("Pending", Json::array({container("waiting", {{"reason", "PodInitializing"}})}));
  initializing["spec"]["initContainers"] = Json::array({{{"name", "i"}}, {{"name", "j"}}});
  initializing["status"]["initContainerStatuses"] =
      Json::array({container("terminated", {{"exitCode", 0}}), container("running", Json::object())});
  struct Row {
    Json pod;
    const char* status;
    std::int64_t ready;
  };
  const Row rows[] = {
      {pod_with("Pending", Json::array()), "Pending", 0},
      {pod_with("Running", Json::array({container("running", Json::object(), true)})), "Running", 1},
      {pod_with("Running", Json::array({container("waiting", {{"reason", "CrashLoopBackOff"}})})), "CrashLoopBackOff",
       0},
      {pod_with("Failed", Json::array({container("terminated", {{"exitCode", 3}})})), "ExitCode:3", 0},
      {pod_with("Succeeded", Json::array({container("terminated", {{"reason", "Completed"}})})), "Completed", 0},
      {deleting, "Terminating", 1},
      {gated, "SchedulingGated", 0},
      {evicted, "Evicted", 0},
      {initializing, "Init:1/2", 0},
  };
  for (const Row& row : rows) {
    const PodSummary summary = summarize_pod(row.pod);
    EXPECT_EQ(summary.status, row.status);
    EXPECT_EQ(summary.ready, row.ready) << row.status;
  }
}

TEST(JsonPath, EvaluatesThePathsOfPrinterColumns) {
  const Json object = {{"spec", {{"list", Json::array({1, 2, 3})}, {"a.b", "dotted"}}},
                       {"status",
                        {{"conditions", Json::array({{{"type", "Ready"}, {"status", "True"}},
                                                     {{"type", "Done"}, {"status", "False"}}})}}}};
  struct Row {
    const char* path;
    std::vector<Json> found;
  };
  const Row rows[] = {
      {".spec.list[0]", {1}},
      {".spec.list[-1]", {3}},
      {"{.spec.list[*]}", {1, 2, 3}},
      {".spec['a.b']", {"dotted"}},
      {".spec.a\\.b", {"dotted"}},
      {".status.conditions[?(@.type==\"Ready\")].status", {"True"}},
      {".status.conditions[?(@.type=='Done')].status", {"False"}},
      {".status.missing.deep", {}},
      {".spec.list[9]", {}},
  };
  for (const Row& row : rows) {
    const auto path = JsonPath::parse(row.path);
    ASSERT_TRUE(path.ok()) << row.path;
    std::vector<Json> found;
    for (const Json* each : path->find(object)) found.push_back(*each);
    EXPECT_EQ(found, row.found) << row.path;
  }
}

TEST(JsonPath, RefusesOtherSyntax) {
  for (const char* path : {".a[", ".a[x]", "..a", ".a[?(type==1)]"})
    EXPECT_THAT(JsonPath::parse(path), IsError(ErrorCode::kInvalidArgument)) << path;
}

}  // namespace
}  // namespace tpuslice::sim

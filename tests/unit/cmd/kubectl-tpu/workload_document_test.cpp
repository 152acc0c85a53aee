#include "cmd/kubectl-tpu/workload_document.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/yaml.h"

namespace tpuslice::plugin {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Object of_yaml(const std::string& text) { return Object(parse_yaml(text).value()); }

Object job_set() {
  return of_yaml(R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train
  namespace: ml
  managedFields: [{manager: kubectl}]
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}", team: red}
spec: {suspend: true}
status:
  conditions:
    - {type: Suspended, status: "True", reason: SuspendedJobs, message: jobset is suspended, lastTransitionTime: "2026-01-01T00:00:00Z"}
)");
}

Object event(const std::string& time, const std::string& more = "") {
  return of_yaml(fmt::format("{{type: Normal, reason: Seen, message: at {0}, lastTimestamp: \"{0}\"{1}}}", time, more));
}

TEST(WorkloadDocument, HasConditionsEventsAndYaml) {
  const Json document = workload_document(
      job_set(), {event("2026-01-01T00:00:01Z"), event("2026-01-01T00:00:03Z", ", count: 7"),
                  of_yaml("{type: Warning, reason: New, message: m, eventTime: \"2026-01-01T00:00:02.5Z\"}")});
  ASSERT_EQ(document["conditions"].size(), 1U);
  EXPECT_EQ(document["conditions"][0]["reason"], "SuspendedJobs");
  EXPECT_EQ(document["conditions"][0]["since"], "2026-01-01T00:00:00Z");
  ASSERT_EQ(document["events"].size(), 3U);
  EXPECT_EQ(document["events"][0]["count"], 7) << "the latest first";
  EXPECT_EQ(document["events"][1]["reason"], "New");
  EXPECT_EQ(document["events"][2]["count"], 1);
  const std::string yaml = document["yaml"];
  EXPECT_THAT(yaml, HasSubstr("suspend: true"));
  EXPECT_THAT(yaml, HasSubstr("team: red"));
  EXPECT_THAT(yaml, Not(HasSubstr("managedFields")));
  EXPECT_THAT(yaml, Not(HasSubstr("last-applied")));
}

TEST(WorkloadDocument, IsBounded) {
  Object object = job_set();
  object.mutable_json()["spec"]["long"] = std::string(2 * kMaxShownYaml, 'x');
  const std::vector<Object> events(2 * kMaxShownEvents, event("2026-01-01T00:00:01Z"));
  const Json document = workload_document(object, events);
  EXPECT_EQ(document["events"].size(), kMaxShownEvents);
  EXPECT_LE(document["yaml"].get<std::string>().size(), kMaxShownYaml + 3) << "with dots";
}

TEST(WorkloadDocument, OfAnObjectWithoutStatusIsItsYaml) {
  const Json document =
      workload_document(of_yaml("{kind: Job, status: {conditions: 7}, metadata: {annotations: 7}}"), {});
  EXPECT_EQ(document["conditions"], Json::array());
  EXPECT_EQ(document["events"], Json::array());
  EXPECT_THAT(document["yaml"].get<std::string>(), HasSubstr("kind: Job"));
}

}  // namespace
}  // namespace tpuslice::plugin

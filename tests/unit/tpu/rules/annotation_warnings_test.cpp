// Values of annotations that have no effect are accepted with a warning.
#include "tests/support/admission.h"
#include "tpu/rules/pod_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/pods.h"
#include "tests/unit/tpu/rules/jobsets.h"
#include "tests/unit/tpu/rules/leaderworkersets.h"
#include "tpu/rules/pod_mutator.h"

namespace tpuslice::rules {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using tpu::testing::RayPod;

constexpr const char* kTogether = "tpuslice.dev/slices-together";
constexpr const char* kGrace = "tpuslice.dev/teardown-grace-period-seconds";
constexpr const char* kHow = "tpuslice.dev/scale-up";

/// Annotates every pod and pod template in the object.
Json annotated(Json json, const std::string& name, const Json& value) {
  if (!json.is_structured()) return json;
  for (Json& child : json) child = annotated(std::move(child), name, value);
  if (find_path(json, {"spec", "containers"}) != nullptr) json["metadata"]["annotations"][name] = value;
  return json;
}

std::vector<std::string> warnings_of(const std::string& name, const Json& value) {
  return warn_invalid_annotations(annotated(RayPod{}.json(), name, value));
}

TEST(AnnotationWarnings, NameKeyValueAndSupportedValues) {
  EXPECT_THAT(warnings_of(kTogether, "two"),
              ElementsAre("metadata.annotations[tpuslice.dev/slices-together]: value \"two\" has no effect: must be a "
                          "number from 1 to 9216"));
  EXPECT_THAT(warnings_of(kHow, "scouts"),
              ElementsAre("metadata.annotations[tpuslice.dev/scale-up]: value \"scouts\" has no effect: supported "
                          "values: \"auto\", \"scout\", \"provisioning-request\", \"off\""));
  EXPECT_THAT(
      warnings_of(kGrace, "0"),
      ElementsAre("metadata.annotations[tpuslice.dev/teardown-grace-period-seconds]: value \"0\" has no effect: "
                  "must be a number of at least 1; 0 would force the deletion"));
}

TEST(AnnotationWarnings, TellThatANamedGangNeedsItsNumberOfSlices) {
  EXPECT_THAT(warnings_of("tpuslice.dev/gang", "rl"),
              ElementsAre("metadata.annotations[tpuslice.dev/gang]: value \"rl\" has no effect: set the annotation "
                          "tpuslice.dev/slices-together to the number of slices of the gang, too"));
  const Json counted = annotated(RayPod{}.json(), kTogether, "2");
  EXPECT_THAT(warn_invalid_annotations(annotated(counted, "tpuslice.dev/gang", "rl")), IsEmpty());
  EXPECT_THAT(warn_invalid_annotations(annotated(counted, "tpuslice.dev/gang", "a/b")),
              ElementsAre(HasSubstr("must be a valid label value")));
}

TEST(AnnotationWarnings, AreOnlyAboutValuesThatAreNotSupported) {
  for (const char* value : {"1", "2", "9216", ""}) EXPECT_THAT(warnings_of(kTogether, value), IsEmpty()) << value;
  for (const char* value : {"0", "-1", "9217", "2.0", " 2", "two"}) {
    EXPECT_THAT(warnings_of(kTogether, value), ElementsAre(HasSubstr(value))) << value;
  }
  for (const char* value : {"auto", "scout", "provisioning-request", "off", ""}) {
    EXPECT_THAT(warnings_of(kHow, value), IsEmpty()) << value;
  }
  for (const char* value : {"Scout", "on", "true"})
    EXPECT_THAT(warnings_of(kHow, value), ElementsAre(HasSubstr(value)));
  for (const char* value : {"1", "3", "3600", ""}) EXPECT_THAT(warnings_of(kGrace, value), IsEmpty()) << value;
  for (const char* value : {"0", "-1", "2.5", "3s", "soon"}) {
    EXPECT_THAT(warnings_of(kGrace, value), ElementsAre(HasSubstr(value))) << value;
  }
  EXPECT_THAT(warn_invalid_annotations(annotated(RayPod{.chips = {0}}.json(), kHow, "on")), IsEmpty());
  EXPECT_THAT(warn_invalid_annotations(RayPod{}.json()), IsEmpty());
}

TEST(AnnotationWarnings, AreForPodsAndObjectsOfAllKinds) {
  Json pod = annotated(RayPod{}.json(), kHow, "scouts");
  EXPECT_THAT(review_pod(pod, with_kinds()).value().warnings, ElementsAre(HasSubstr("[tpuslice.dev/scale-up]")));
  for (const Json& object : {testing::tpu_cluster(), testing::tpu_rayjob(), testing::tpu_rayservice(),
                             testing::tpu_jobset(), testing::serving_set(), testing::disaggregated_set()}) {
    EXPECT_THAT(warn_invalid_annotations(object), IsEmpty()) << object["kind"];
    const auto warnings = warn_invalid_annotations(annotated(object, kTogether, "two"));
    EXPECT_FALSE(warnings.empty()) << object["kind"];
    EXPECT_THAT(warnings, Each(AllOf(StartsWith("spec."), HasSubstr(".metadata.annotations[tpuslice.dev/"))));
  }
}

TEST(AnnotationWarnings, AreFewAndShort) {
  Json cluster = annotated(testing::tpu_rayjob(), kHow, std::string(1000, 'x'));
  cluster = annotated(std::move(cluster), kTogether, std::string(1000, 'x'));
  cluster = annotated(std::move(cluster), kGrace, std::string(1000, 'x'));
  Json& groups = cluster["spec"]["rayClusterSpec"]["workerGroupSpecs"];
  while (groups.size() < 100) groups.push_back(groups[0]);
  const auto warnings = warn_invalid_annotations(cluster);
  EXPECT_EQ(warnings.size(), 4U);
  for (const std::string& warning : warnings) EXPECT_LE(warning.size(), 256U) << warning;
}

}  // namespace
}  // namespace tpuslice::rules

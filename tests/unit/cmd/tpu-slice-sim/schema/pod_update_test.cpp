#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/patch.h"
#include "cmd/tpu-slice-sim/resources/builtin_resources.h"
#include "cmd/tpu-slice-sim/schema/builtin.h"

namespace tpuslice::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Resource pods() {
  Resource resource;
  resource.version = "v1";
  resource.kind = "Pod";
  resource.plural = "pods";
  return resource;
}

Json a_pod(const char* change) {
  Json pod = Json::parse(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"i"}]}})");
  pod = apply_merge_patch(pod, Json::parse(change));
  default_builtin(pods(), pod);
  return pod;
}

std::vector<std::string> update(const Json& old, const char* change) {
  std::vector<std::string> lines;
  for (const FieldProblem& each : validate_builtin(pods(), apply_merge_patch(old, Json::parse(change)), &old)) {
    lines.push_back(each.path + ": " + each.message);
  }
  return lines;
}

TEST(PodUpdate, MayChangeImagesLabelsAndAddTolerations) {
  const Json pod = a_pod(R"({"spec":{"tolerations":[{"key":"a","operator":"Exists"}]}})");
  EXPECT_THAT(update(pod, R"({"metadata":{"labels":{"a":"b"}}})"), IsEmpty());
  Json newer = pod;
  newer["spec"]["containers"][0]["image"] = "j";
  newer["spec"]["tolerations"].push_back({{"key", "b"}, {"operator", "Exists"}});
  newer["spec"]["activeDeadlineSeconds"] = 5;
  EXPECT_THAT(validate_builtin(pods(), newer, &pod), IsEmpty());
}

TEST(PodUpdate, MayNotChangeOtherFields) {
  const Json pod = a_pod("{}");
  for (const char* change : {R"({"spec":{"nodeName":"n"}})", R"({"spec":{"nodeSelector":{"a":"b"}}})",
                             R"({"spec":{"hostname":"h"}})", R"({"spec":{"restartPolicy":"Never"}})"}) {
    EXPECT_THAT(update(pod, change),
                ElementsAre(HasSubstr("spec: Forbidden: pod updates may not change fields other than "
                                      "`spec.containers[*].image`")))
        << change;
  }
  EXPECT_THAT(update(pod, R"({"spec":{"containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]}})"),
              ElementsAre("spec.containers: Forbidden: pod updates may not add or remove containers"));
  EXPECT_THAT(update(pod, R"({"spec":{"tolerations":[]}})"),
              ElementsAre("spec.tolerations: Forbidden: existing toleration can not be modified except its "
                          "tolerationSeconds"));
}

TEST(PodUpdate, MayRemoveGatesButNotAddThem) {
  const Json gated = a_pod(R"({"spec":{"schedulingGates":[{"name":"a"},{"name":"b"}]}})");
  EXPECT_THAT(update(gated, R"({"spec":{"schedulingGates":[{"name":"b"}]}})"), IsEmpty());
  EXPECT_THAT(update(gated, R"({"spec":{"schedulingGates":null}})"), IsEmpty());
  EXPECT_THAT(update(gated, R"({"spec":{"schedulingGates":[{"name":"c"}]}})"),
              ElementsAre("spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new "
                          "scheduling gate 'c'"));
}

TEST(PodUpdate, MayRestrictTheNodesOfAGatedPodInTheWriteThatReleasesIt) {
  const Json gated = a_pod(R"({"spec":{"schedulingGates":[{"name":"a"}],"nodeSelector":{"x":"1"}}})");
  EXPECT_THAT(update(gated, R"({"spec":{"schedulingGates":null,"nodeSelector":{"pool":"p"}}})"), IsEmpty());
  EXPECT_THAT(update(gated, R"({"spec":{"nodeSelector":{"x":"2"}}})"),
              ElementsAre(HasSubstr("only additions to spec.nodeSelector are allowed")));
  EXPECT_THAT(update(gated, R"({"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
    {"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}}}})"),
              IsEmpty());
}

}  // namespace
}  // namespace tpuslice::sim

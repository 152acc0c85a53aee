#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/views.h"

namespace tpuslice {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kSample = R"({
  "apiVersion": "apps/v1", "kind": "StatefulSet",
  "metadata": {
    "name": "serve-0", "namespace": "default", "uid": "u1", "resourceVersion": "815", "generation": 3,
    "deletionTimestamp": "2026-01-01T00:01:00Z",
    "labels": {"leaderworkerset.sigs.k8s.io/name": "serve"},
    "annotations": {"team": "a", "tpuslice.dev/group-members": "abc"},
    "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "serve-0", "uid": "u0", "controller": true}],
    "managedFields": [{"manager": "kubectl"}]
  },
  "spec": {
    "ordinals": {"start": 1}, "replicas": 7, "serviceName": "serve",
    "selector": {"matchLabels": {"a": "b"}},
    "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "\u00e4"}]}},
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
  },
  "status": {"observedGeneration": 2, "replicas": 6, "availableReplicas": 5, "readyReplicas": 4,
             "currentRevision": "serve-0-a", "updateRevision": "serve-0-b"}
})";

TEST(StatefulSetView, KeepsTheFieldsThatControllersRead) {
  const StatefulSetView set = StatefulSetView::decode(kSample).value();
  EXPECT_EQ(set.key.to_string(), "default/serve-0");
  EXPECT_EQ(set.uid, "u1");
  EXPECT_EQ(set.resource_version, "815");
  EXPECT_EQ(set.generation, 3);
  EXPECT_EQ(set.deletion, parse_rfc3339("2026-01-01T00:01:00Z"));
  EXPECT_THAT(set.labels, UnorderedElementsAre(Pair("leaderworkerset.sigs.k8s.io/name", "serve")));
  EXPECT_THAT(set.annotations, UnorderedElementsAre(Pair("team", "a"), Pair("tpuslice.dev/group-members", "abc")));
  EXPECT_EQ(set.annotation("team"), "a");
  EXPECT_EQ(set.annotation("absent"), "");
  EXPECT_EQ(set.controller, (ControllerRef{"v1", "Pod", "serve-0", "u0"}));
  EXPECT_EQ(set.replicas(), 7);
  EXPECT_EQ(set.first_ordinal(), 1);
  EXPECT_EQ(set.partition(), 2);
  EXPECT_EQ(set.observed_generation, 2);
  EXPECT_EQ(set.replicas_created, 6);
  EXPECT_EQ(set.available, 5);
  EXPECT_EQ(set.current_revision, "serve-0-a");
  EXPECT_EQ(set.update_revision, "serve-0-b");
}

TEST(StatefulSetView, KeepsTheMutableFieldsOfTheSpec) {
  const StatefulSetView set = StatefulSetView::decode(kSample).value();
  EXPECT_EQ(set.settings, Json::parse(R"({"ordinals": {"start": 1}, "replicas": 7,
      "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}})"));
  const Json whole = parse_json(kSample).value();
  EXPECT_EQ(parse_json(set.pod_template).value(), whole["spec"]["template"]);
}

TEST(StatefulSetView, AppliesTheDefaultsOfTheApi) {
  const StatefulSetView set = StatefulSetView::decode(R"({"metadata": {"name": "s", "uid": "u"}})").value();
  EXPECT_EQ(set.replicas(), 1);
  EXPECT_EQ(set.first_ordinal(), 0);
  EXPECT_EQ(set.partition(), 0);
  EXPECT_EQ(set.pod_template, "");
  EXPECT_TRUE(set.settings.empty());
}

TEST(StatefulSetView, ErrorsNameTheField) {
  const auto error_of = [](std::string_view json) {
    return std::string(StatefulSetView::decode(json).error().message());
  };
  EXPECT_THAT(error_of(R"({"metadata": {"name": "s"}})"), HasSubstr("uid"));
  EXPECT_THAT(error_of(R"({"metadata": {"name": "s", "uid": "u"}, "spec": {"replicas": {"a": }}})"),
              HasSubstr("stateful set cannot be decoded: .spec"));
  EXPECT_THAT(error_of(R"({"metadata": {"name": "s", "uid": "u"}, "status": {"replicas": "many"}})"),
              HasSubstr("stateful set cannot be decoded: .status"));
}

}  // namespace
}  // namespace tpuslice

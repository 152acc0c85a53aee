#include "controllers/leaderworkerset/rollout/revisions.h"

#include <gtest/gtest.h>

#include "tests/support/leaderworkerset/leaderworkersets.h"

namespace tpuslice::leaderworkerset {
namespace {

Json data_of(const SetBuilder& set) { return revision_data(set.json()); }

/// Written by upstream's controller for a_set("serve").size(2).leader().
constexpr const char* kUpstreamData = R"({"spec": {
  "leaderWorkerTemplate": {"$patch": "replace", "restartPolicy": "RecreateGroupOnPodRestart", "size": 2,
    "leaderTemplate": {"metadata": {"labels": {"app": "leader"}},
                       "spec": {"containers": [{"image": "leader:1", "name": "leader", "resources": {}}]}},
    "workerTemplate": {"metadata": {},
                       "spec": {"containers": [{"image": "worker:1", "name": "worker", "resources": {}}]}}},
  "networkConfig": {"$patch": "replace", "subdomainPolicy": "Shared"}}})";

TEST(Revisions, AreByteEqualToUpstreams) {
  EXPECT_EQ(data_of(a_set("serve").size(2).leader()), Json::parse(kUpstreamData));
}

// Hashes computed with upstream's Go code.
TEST(Revisions, AreHashedAsUpstreams) {
  EXPECT_EQ(revision_hash(data_of(a_set("serve"))), "d846f69f8");
  const Json args = Json::array({"a <b> & \u2028 é"});
  EXPECT_EQ(revision_hash(data_of(a_set("serve").of_template("/workerTemplate/spec/containers/0/args", args))),
            "6c987dbf68")
      << "Go escapes what HTML would";
}

TEST(Revisions, AreNamedByHashAndNumber) {
  const Object set = a_set("serve").label("team", "a").object();
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(set);
  const Json data = revision_data(set.json());
  EXPECT_EQ(build_revision(spec, data, 7),
            Json({{"apiVersion", "apps/v1"},
                  {"kind", "ControllerRevision"},
                  {"metadata",
                   {{"name", "serve-d846f69f8-7"},
                    {"namespace", "default"},
                    {"labels",
                     {{"leaderworkerset.sigs.k8s.io/name", "serve"},
                      {"leaderworkerset.sigs.k8s.io/template-revision-hash", "d846f69f8"}}},
                    {"ownerReferences", Json::array({spec.owner.to_json()})}}},
                  {"data", data},
                  {"revision", 7}}));
}

TEST(Revisions, ThatReplaceADeletedOneHaveItsKey) {
  const Object set = a_set("serve").object();
  const Json created = build_revision(LeaderWorkerSetSpec::read(set), revision_data(set.json()), 1, "lost");
  EXPECT_EQ(Object(created).name(), "serve-d846f69f8-1");
  EXPECT_EQ(Revision::read(Object(created)).key, "lost");
}

TEST(Revisions, SurviveARoundTrip) {
  const Object set = a_set("serve").object();
  Json created = build_revision(LeaderWorkerSetSpec::read(set), revision_data(set.json()), 3);
  created["metadata"]["uid"] = "u";
  const Revision revision = Revision::read(Object(created));
  EXPECT_EQ(revision.object, (ObjectKey{"default", "serve-d846f69f8-3"}));
  EXPECT_EQ(revision.uid, "u");
  EXPECT_EQ(revision.key, "d846f69f8");
  EXPECT_EQ(revision.number, 3);
  EXPECT_EQ(revision.data, revision_data(set.json()));
  EXPECT_EQ(Revision::read(Object()).data, Json::object());
}

TEST(Revisions, AreFoundByKey) {
  const std::vector<Revision> revisions = {
      {.key = "a", .number = 1}, {.key = "b", .number = 4}, {.key = "a", .number = 3}, {.key = "", .number = 2}};
  ASSERT_NE(find_revision(revisions, "a"), nullptr);
  EXPECT_EQ(find_revision(revisions, "a")->number, 3);
  EXPECT_EQ(find_revision(revisions, "c"), nullptr);
  EXPECT_EQ(find_revision(revisions, ""), nullptr);
  EXPECT_EQ(next_revision_number(revisions), 5);
  EXPECT_EQ(next_revision_number({}), 1);
}

class EquivalentSpecs : public testing::TestWithParam<std::pair<const char*, Json>> {};

TEST_P(EquivalentSpecs, NeedNoRollout) {
  SetBuilder set = a_set("serve").size(2).leader();
  EXPECT_TRUE(same_groups(Json::parse(kUpstreamData), data_of(set.set(GetParam().first, GetParam().second))));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, EquivalentSpecs,
    testing::Values(
        std::pair("/spec/replicas", Json(7)), std::pair("/spec/startupPolicy", Json("LeaderReady")),
        std::pair("/spec/rolloutStrategy", Json({{"type", "RollingUpdate"}})), std::pair("/spec/networkConfig", Json()),
        std::pair("/spec/networkConfig/subdomainPolicy", Json()),
        std::pair("/spec/networkConfig/subdomainPolicy", Json("Shared")),
        std::pair("/spec/leaderWorkerTemplate/restartPolicy", Json("RecreateGroupOnPodRestart")),
        std::pair("/spec/leaderWorkerTemplate/subGroupPolicy", Json()),
        std::pair("/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/args", Json()),
        std::pair("/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/resources/limits", Json::object()),
        std::pair("/spec/leaderWorkerTemplate/workerTemplate/metadata", Json({{"creationTimestamp", nullptr}})),
        std::pair("/metadata/annotations", Json({{"leaderworkerset.sigs.k8s.io/exclusive-topology", "rack"}}))));

class ChangedSpecs : public testing::TestWithParam<std::pair<const char*, Json>> {};

TEST_P(ChangedSpecs, NeedARollout) {
  SetBuilder set = a_set("serve").size(2).leader();
  EXPECT_FALSE(same_groups(Json::parse(kUpstreamData), data_of(set.set(GetParam().first, GetParam().second))));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, ChangedSpecs,
    testing::Values(std::pair("/spec/leaderWorkerTemplate/size", Json(3)),
                    std::pair("/spec/leaderWorkerTemplate/restartPolicy", Json("None")),
                    std::pair("/spec/leaderWorkerTemplate/leaderTemplate", Json()),
                    std::pair("/spec/networkConfig/subdomainPolicy", Json("UniquePerReplica")),
                    std::pair("/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image", Json("worker:2")),
                    std::pair("/spec/leaderWorkerTemplate/workerTemplate/spec/terminationGracePeriodSeconds", Json(0)),
                    std::pair("/spec/leaderWorkerTemplate/leaderTemplate/metadata/labels/app", Json("other")),
                    std::pair("/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/args", Json::array({"x"}))));

TEST(Revisions, OfOlderUpstreamControllersAreEqual) {
  Json old = Json::parse(kUpstreamData);
  old["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"]["creationTimestamp"] = nullptr;
  old["spec"].erase("networkConfig");
  EXPECT_TRUE(same_groups(old, data_of(a_set("serve").size(2).leader())));
}

TEST(Revisions, RestoreTheGroupTemplate) {
  const Json now = a_set("serve").size(9).set("/spec/networkConfig/subdomainPolicy", "UniquePerReplica").json();
  const Json recorded = groups_of(Json::parse(kUpstreamData), now);
  const GroupTemplate group = GroupTemplate::read(recorded);
  EXPECT_EQ(group.size, 2);
  EXPECT_FALSE(group.service_per_group);
  EXPECT_EQ(string_at(*group.leader, {"spec", "containers", "0", "image"}), "leader:1");
  EXPECT_EQ(find_path(recorded, {"spec", "leaderWorkerTemplate", "$patch"}), nullptr);
}

TEST(Revisions, WithoutNetworkConfigUseThatOfTheSet) {
  Json old = Json::parse(kUpstreamData);
  old["spec"].erase("networkConfig");
  const Json now = a_set("serve").set("/spec/networkConfig/subdomainPolicy", "UniquePerReplica").json();
  const Json recorded = groups_of(old, now);
  EXPECT_TRUE(GroupTemplate::read(recorded).service_per_group);
}

}  // namespace
}  // namespace tpuslice::leaderworkerset

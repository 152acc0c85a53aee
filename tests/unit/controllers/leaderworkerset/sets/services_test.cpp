#include "controllers/leaderworkerset/sets/services.h"

#include <gtest/gtest.h>

#include "tests/support/leaderworkerset/leaderworkersets.h"

namespace tpuslice::leaderworkerset {
namespace {

const Object& serve() {
  static const Object kSet = a_set("serve").size(2).object();
  return kSet;
}

Json shared() { return build_shared_service(LeaderWorkerSetSpec::read(serve())); }

Json of_group() {
  const Leader leader{.name = "serve-2", .uid = "uid-1", .group = 2, .group_key = "k", .revision_key = "r"};
  return build_group_service(LeaderWorkerSetSpec::read(serve()), leader);
}

TEST(Services, SharedServiceIsByteEqualToUpstreams) {
  EXPECT_EQ(shared(), Json::parse(R"({
    "apiVersion": "v1", "kind": "Service",
    "metadata": {"name": "serve", "namespace": "default", "labels": {"leaderworkerset.sigs.k8s.io/name": "serve"},
      "ownerReferences": [{"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": "serve",
                           "uid": "uid-of-serve", "controller": true, "blockOwnerDeletion": true}]},
    "spec": {"clusterIP": "None", "selector": {"leaderworkerset.sigs.k8s.io/name": "serve"},
             "publishNotReadyAddresses": true}})"));
}

TEST(Services, GroupServiceIsOwnedByItsLeader) {
  EXPECT_EQ(of_group(), Json::parse(R"({
    "apiVersion": "v1", "kind": "Service",
    "metadata": {"name": "serve-2", "namespace": "default", "labels": {"leaderworkerset.sigs.k8s.io/name": "serve"},
      "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "serve-2", "uid": "uid-1", "controller": true,
                           "blockOwnerDeletion": true}]},
    "spec": {"clusterIP": "None", "publishNotReadyAddresses": true,
             "selector": {"leaderworkerset.sigs.k8s.io/name": "serve",
                          "leaderworkerset.sigs.k8s.io/group-index": "2"}}})"));
}

}  // namespace
}  // namespace tpuslice::leaderworkerset

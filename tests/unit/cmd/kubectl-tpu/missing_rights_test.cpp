#include "cmd/kubectl-tpu/missing_rights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::plugin {
namespace {

using ::testing::IsEmpty;

std::string grant(const std::string& message) { return grant_for(Error(ErrorCode::kForbidden, message)); }

TEST(MissingRights, NodesAreInTheRoleOfTheFleet) {
  EXPECT_EQ(grant(R"(list nodes: nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the )"
                  "cluster scope"),
            "kubectl create clusterrolebinding tpu-slice-fleet-jane --clusterrole=tpu-slice-fleet --user=jane");
}

TEST(MissingRights, PodsOfANamespaceAreInTheRoleOfViewers) {
  EXPECT_EQ(grant(R"(pods is forbidden: User "jane@example.com" cannot list resource "pods" in API group "" in the )"
                  R"(namespace "ml")"),
            "kubectl create rolebinding tpu-slice-view-jane@example.com -n ml --clusterrole=tpu-slice-view "
            "--user=jane@example.com");
}

TEST(MissingRights, PathsOfTheFleetAreInItsRole) {
  EXPECT_EQ(grant(R"(forbidden: User "system:serviceaccount:ml:bot" cannot get path "/fleet/v1/snapshot")"),
            "kubectl create clusterrolebinding tpu-slice-fleet-system-serviceaccount-ml-bot "
            "--clusterrole=tpu-slice-fleet --serviceaccount=ml:bot");
}

TEST(MissingRights, OtherRightsGetARoleOfTheirOwn) {
  EXPECT_EQ(grant(R"(User "jane" cannot create resource "pods/eviction" in API group "" in the namespace "ml")"),
            "kubectl create role tpu-create-jane -n ml --verb=create --resource=pods/eviction && kubectl create "
            "rolebinding tpu-create-jane -n ml --role=tpu-create-jane --user=jane");
  EXPECT_EQ(grant(R"(User "jane" cannot patch resource "nodes" in API group "" at the cluster scope)"),
            "kubectl create clusterrole tpu-patch-jane --verb=patch --resource=nodes && kubectl create "
            "clusterrolebinding tpu-patch-jane --clusterrole=tpu-patch-jane --user=jane");
}

TEST(MissingRights, NamesCannotAddShellCommands) {
  EXPECT_EQ(grant(R"(User "a'; rm -r x" cannot list resource "nodes" in API group "" at the cluster scope)"),
            R"(kubectl create clusterrolebinding tpu-slice-fleet-a---rm--r-x --clusterrole=tpu-slice-fleet )"
            R"(--user='a'\''; rm -r x')");
}

TEST(MissingRights, OtherErrorsAreNotRights) {
  EXPECT_THAT(grant("admission webhook denied the request"), IsEmpty());
  EXPECT_THAT(grant_for(Error::unavailable(R"(User "a" cannot list resource "nodes")")), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::plugin

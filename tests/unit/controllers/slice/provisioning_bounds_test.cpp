// How many provisioning requests there are.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/slice/decisions.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ScaleUpOptions at_most(std::size_t requests) {
  ScaleUpOptions options = request_options();
  options.max_scouts = requests;
  return options;
}

/// The requests of the slices [first, last), created at `when`.
std::vector<std::shared_ptr<const ProvisioningRequestView>> requests_of(const std::vector<Slice>& slices,
                                                                        std::size_t first, std::size_t last,
                                                                        Duration when,
                                                                        const RequestChange& change = {}) {
  std::vector<std::shared_ptr<const ProvisioningRequestView>> out;
  for (std::size_t i = first; i < last; ++i) {
    out.push_back(a_request(slices[i].key.name, [&](ProvisioningRequestView& request) {
      request.annotations[std::string(tpu::kScoutFor)] = slices[i].key.to_string();
      request.created = after(when) + std::chrono::milliseconds(i);
      if (change) change(request);
    }));
  }
  return out;
}

TEST(RequestBounds, LimitRequestsWithOneSetOfRequirements) {
  const RequestDecisions out = decide_requests({.ready = many_slices(5, 1, 5)}, at_most(2));
  EXPECT_THAT(out.created, ElementsAre("PodTemplate s-00", "PodTemplate s-01"));
  EXPECT_EQ(out.notes.at("s-02"), "; no nodes are asked for, as that takes more than --max-scouts=2");
}

TEST(RequestBounds, LimitRequestsOfANamespaceAndOfTheAccelerator) {
  EXPECT_THAT(decide_requests({.ready = many_slices(5, 5, 1)}, at_most(2)).created, SizeIs(2));
  EXPECT_THAT(decide_requests({.ready = many_slices(30, 30, 30)}, at_most(1)).created, SizeIs(10));
}

TEST(RequestBounds, CountRequestsThatExist) {
  Scene scene{.ready = many_slices(5, 1, 5)};
  scene.provisioning.requests = requests_of(scene.ready, 3, 5, 0s);
  EXPECT_THAT(decide_requests(scene, at_most(3)).created, ElementsAre("PodTemplate s-00"));
  scene.provisioning.requests = requests_of(scene.ready, 3, 5, 0s, [](auto& request) { request.ended = "Failed"; });
  EXPECT_THAT(decide_requests(scene, at_most(3)).created, ElementsAre("PodTemplate s-00"))
      << "they are made again, and for the same nodes";
}

TEST(RequestBounds, HoldForAWholeGang) {
  const Scene scene{.ready = slices_of({a_slice("u").in("team"), a_slice("x").gang("g", 2).created(1s),
                                        a_slice("y").gang("g", 2).created(1s)})};
  EXPECT_THAT(decide_requests(scene, at_most(2)).created, ElementsAre("PodTemplate u"));
  EXPECT_THAT(decide_requests(scene, at_most(3)).created,
              ElementsAre("PodTemplate u", "PodTemplate x", "PodTemplate y"));
}

TEST(UnsuccessfulRequests, DoNotCountAgainstTheirNamespace) {
  Scene scene{.ready = many_slices(3, 3, 1), .now = 15min};
  scene.provisioning.requests = requests_of(scene.ready, 0, 1, 0s);
  EXPECT_THAT(decide_requests(scene, at_most(1)).created, ElementsAre("PodTemplate s-01"));
  EXPECT_THAT(decide_requests(scene, at_most(1)).deleted, IsEmpty()) << "it is kept";
  scene.now = 15min - 1s;
  EXPECT_THAT(decide_requests(scene, at_most(1)).created, IsEmpty());
  EXPECT_EQ(decide_requests(scene, at_most(1)).changes_at, Duration(15min));
  scene.provisioning.requests = requests_of(scene.ready, 0, 1, 0s, [](auto& request) { request.ended = "Failed"; });
  EXPECT_THAT(decide_requests(scene, at_most(1)).created, ElementsAre("PodTemplate s-01"));
}

TEST(UnsuccessfulRequests, AreNotThoseThatAreProvisioned) {
  Scene scene{.ready = many_slices(2, 2, 1), .now = 1h};
  scene.provisioning.requests = requests_of(scene.ready, 0, 1, 0s, [](auto& request) { request.provisioned = true; });
  EXPECT_THAT(decide_requests(scene, at_most(1)).created, IsEmpty());
}

TEST(UnsuccessfulRequests, AreDeletedOldestFirstForNewOnes) {
  // With a maximum of 1, ten for the accelerator; twenty unsuccessful ones.
  Scene scene{.ready = many_slices(22, 22, 22), .now = 1h};
  scene.provisioning.requests = requests_of(scene.ready, 0, 20, 0s);
  const RequestDecisions out = decide_requests(scene, at_most(1));
  EXPECT_THAT(out.created, ElementsAre("PodTemplate s-20", "PodTemplate s-21"));
  EXPECT_THAT(out.deleted, ElementsAre("uid-of-request-of-s-00", "uid-of-request-of-s-01"));
}

}  // namespace
}  // namespace tpuslice::slice

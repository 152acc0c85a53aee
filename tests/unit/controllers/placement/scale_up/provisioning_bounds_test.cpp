// How many provisioning requests there are.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/placement/decisions.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ScaleUpOptions requests_at_most(std::size_t requests) {
  ScaleUpOptions options = request_options();
  options.max_scale_ups = requests;
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
      request.annotations[std::string(tpu::kScaleUpFor)] = slices[i].key.to_string();
      request.created = after(when) + std::chrono::milliseconds(i);
      if (change) change(request);
    }));
  }
  return out;
}

std::shared_ptr<const MetadataView> a_template_of(const Slice& slice) {
  MetadataView view = *a_template(slice.key.name);
  view.annotations[std::string(tpu::kScaleUpFor)] = slice.key.to_string();
  return std::make_shared<const MetadataView>(std::move(view));
}

TEST(RequestBounds, LimitRequestsWithOneSetOfRequirements) {
  const RequestDecisions out = decide_requests({.ready = many_slices(5, 1, 5)}, requests_at_most(2));
  EXPECT_THAT(out.created, ElementsAre("PodTemplate s-00", "PodTemplate s-01"));
  EXPECT_EQ(out.notes.at("s-02"), "; no nodes are asked for, as that takes more than --max-scale-ups=2");
}

TEST(RequestBounds, LimitRequestsOfANamespaceAndOfTheAccelerator) {
  EXPECT_THAT(decide_requests({.ready = many_slices(5, 5, 1)}, requests_at_most(2)).created, SizeIs(2));
  EXPECT_THAT(decide_requests({.ready = many_slices(30, 30, 30)}, requests_at_most(1)).created, SizeIs(10));
}

TEST(RequestBounds, CountRequestsThatExist) {
  Scene scene{.ready = many_slices(5, 1, 5)};
  scene.provisioning.requests = requests_of(scene.ready, 3, 5, 0s);
  EXPECT_THAT(decide_requests(scene, requests_at_most(3)).created, ElementsAre("PodTemplate s-00"));
  scene.provisioning.requests = requests_of(scene.ready, 3, 5, 0s, [](auto& request) { request.ended = "Failed"; });
  EXPECT_THAT(decide_requests(scene, requests_at_most(3)).created, ElementsAre("PodTemplate s-00"))
      << "they are made again, and for the same nodes";
}

TEST(RequestBounds, HoldForAWholeGang) {
  const Scene scene{.ready = slices_of({a_slice("u").in("team"), a_slice("x").gang("g", 2).created(1s),
                                        a_slice("y").gang("g", 2).created(1s)})};
  EXPECT_THAT(decide_requests(scene, requests_at_most(2)).created, ElementsAre("PodTemplate u"));
  EXPECT_THAT(decide_requests(scene, requests_at_most(3)).created,
              ElementsAre("PodTemplate u", "PodTemplate x", "PodTemplate y"));
}

TEST(UnsuccessfulRequests, DoNotCountAgainstTheirNamespace) {
  Scene scene{.ready = many_slices(3, 3, 1), .now = 15min};
  scene.provisioning.requests = requests_of(scene.ready, 0, 1, 0s);
  EXPECT_THAT(decide_requests(scene, requests_at_most(1)).created, ElementsAre("PodTemplate s-01"));
  EXPECT_THAT(decide_requests(scene, requests_at_most(1)).deleted, IsEmpty()) << "it is kept";
  scene.now = 15min - 1s;
  EXPECT_THAT(decide_requests(scene, requests_at_most(1)).created, IsEmpty());
  EXPECT_EQ(decide_requests(scene, requests_at_most(1)).changes_at, Duration(15min));
  scene.provisioning.requests = requests_of(scene.ready, 0, 1, 0s, [](auto& request) { request.ended = "Failed"; });
  EXPECT_THAT(decide_requests(scene, requests_at_most(1)).created, ElementsAre("PodTemplate s-01"));
}

TEST(UnsuccessfulRequests, AreThoseWhoseSliceHasNoDomainAfterTheyWereProvisioned) {
  Scene scene{.ready = many_slices(2, 2, 1), .now = 25min - 1s};
  scene.provisioning.requests = requests_of(scene.ready, 0, 1, 0s, [](auto& request) {
    request.provisioned = true;
    request.changed = after(10min);
  });
  EXPECT_THAT(decide_requests(scene, requests_at_most(1)).created, IsEmpty()) << "its nodes may become Ready yet";
  EXPECT_EQ(decide_requests(scene, requests_at_most(1)).changes_at, Duration(25min));
  scene.now = 25min;
  EXPECT_THAT(decide_requests(scene, requests_at_most(1)).created, ElementsAre("PodTemplate s-01"));
  EXPECT_THAT(decide_requests(scene, requests_at_most(1)).deleted, IsEmpty()) << "it is kept";
}

TEST(UnsuccessfulRequests, AreDeletedOldestFirstForNewOnes) {
  // With a maximum of 1, ten for the accelerator; twenty unsuccessful ones.
  Scene scene{.ready = many_slices(22, 22, 22), .now = 1h};
  for (const bool provisioned : {false, true}) {
    scene.provisioning.requests =
        requests_of(scene.ready, 0, 20, 0s, [&](auto& request) { request.provisioned = provisioned; });
    const RequestDecisions out = decide_requests(scene, requests_at_most(1));
    EXPECT_THAT(out.created, ElementsAre("PodTemplate s-20", "PodTemplate s-21"));
    EXPECT_THAT(out.deleted, ElementsAre("uid-of-request-of-s-00", "uid-of-request-of-s-01"));
  }
}

TEST(EndedRequests, DoNotGiveWayBeforeTheirSliceMayAskAgain) {
  Scene scene{.ready = many_slices(22, 22, 22), .now = 15min - 1s};
  const auto failed = [](auto& request) {
    request.ended = "Failed";
    request.changed = after(1s);
  };
  scene.provisioning.requests = requests_of(scene.ready, 0, 20, 0s, failed);
  RequestDecisions out = decide_requests(scene, requests_at_most(1));
  EXPECT_THAT(out.created, IsEmpty());
  EXPECT_THAT(out.deleted, IsEmpty());
  EXPECT_EQ(out.notes.at("s-20"), "; no nodes are asked for, as that takes more than --max-scale-ups=1");
  EXPECT_EQ(out.changes_at, Duration(15min + 1s));
  // Others give way.
  scene.provisioning.requests = requests_of(scene.ready, 0, 19, 10min, failed);
  for (const auto& each : requests_of(scene.ready, 19, 20, 0s)) scene.provisioning.requests.push_back(each);
  scene.now = 16min;
  out = decide_requests(scene, requests_at_most(1));
  EXPECT_THAT(out.created, ElementsAre("PodTemplate s-20"));
  EXPECT_THAT(out.deleted, ElementsAre("uid-of-request-of-s-19"));
}

/// A provisioner that fails each request at once, a plan for each second, more slices than there may be requests.
TEST(EndedRequests, AreMadeAgainOnceInTheTimeOut) {
  constexpr int kSlices = 30;
  constexpr Duration kTimeout = 60s;
  ScaleUpOptions options = requests_at_most(1);
  options.timeout = kTimeout;
  Scene scene{.ready = many_slices(kSlices, kSlices, kSlices)};
  for (const Slice& slice : scene.ready) {
    scene.provisioning.templates.push_back(a_template_of(slice));
  }
  std::map<std::string, Duration> asked;
  std::set<std::string> served;
  std::size_t most = 0;
  for (Duration now = 60s; now < 60s + 10 * kTimeout; now += 1s) {
    scene.now = now;
    const RequestDecisions out = decide_requests(scene, options);
    std::erase_if(scene.provisioning.requests,
                  [&](const auto& each) { return std::ranges::count(out.deleted, each->uid) > 0; });
    for (std::size_t i = 0; i < scene.ready.size(); ++i) {
      const std::string name = scene.ready[i].key.name;
      if (std::ranges::count(out.created, "ProvisioningRequest " + name) == 0) continue;
      if (asked.contains(name)) {
        EXPECT_GE(now - asked[name], kTimeout) << name;
      }
      asked[name] = now;
      served.insert(name);
      for (const auto& each :
           requests_of(scene.ready, i, i + 1, now, [](auto& request) { request.ended = "Failed"; })) {
        scene.provisioning.requests.push_back(each);
      }
    }
    most = std::max(most, scene.provisioning.requests.size());
  }
  EXPECT_LE(most, 20U) << "twice what the accelerator may have";
  EXPECT_GE(served.size(), 20U);
}

}  // namespace
}  // namespace tpuslice::placement

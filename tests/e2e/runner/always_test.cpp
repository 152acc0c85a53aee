#include "tests/e2e/runner/always.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A server that is away.
class NoReader final : public client::Reader {
 public:
  Result<Object> get(const ResourceType&, const ObjectKey&, std::stop_token) override { return away(); }
  Result<client::ListPage> list(const ResourceType&, const client::ListOptions&, std::stop_token) override {
    return away();
  }
  Result<std::unique_ptr<client::WatchStream>> watch(const ResourceType&, const client::WatchOptions&,
                                                     std::stop_token) override {
    return away();
  }

 private:
  static Error away() { return Error::unavailable("away"); }
};

class AlwaysDistinct : public ::testing::Test {
 protected:
  static Distinctness rule() {
    return {.target = {.resource = "pods"},
            .fields = {FieldPath::parse(".slice").value(), FieldPath::parse(".host").value()},
            .unborn = FieldPath::parse(".gates").value()};
  }
  static Json pod(const std::string& uid, const std::string& host, const std::string& phase = "Running") {
    return {{"metadata", {{"name", "pod-" + uid}, {"uid", uid}}},
            {"slice", "s"},
            {"host", host},
            {"status", {{"phase", phase}}}};
  }

  NoReader reader_;
  Always always_{reader_, kPods, "space", rule()};
};

TEST_F(AlwaysDistinct, TellsTwoLiveObjectsOfOnePlace) {
  always_.see(pod("1", "0"), false);
  always_.see(pod("2", "1"), false);
  EXPECT_THAT(always_.violations(), IsEmpty());
  always_.see(pod("3", "1", "Pending"), false);
  ASSERT_THAT(always_.violations(), SizeIs(1));
  EXPECT_THAT(always_.violations().front(), HasSubstr("pod-2 (2) pod-3 (3)"));
  EXPECT_EQ(always_.changes(), 3U);
}

TEST_F(AlwaysDistinct, CountsNoneThatIsDeletedOrOver) {
  always_.see(pod("1", "0"), false);
  always_.see(pod("1", "0"), true);
  always_.see(pod("2", "0"), false);
  always_.see(pod("2", "0", "Failed"), false);
  always_.see(pod("3", "0", "Succeeded"), false);
  always_.see(pod("4", "0"), false);
  EXPECT_THAT(always_.violations(), IsEmpty());
}

TEST_F(AlwaysDistinct, CountsAnObjectOnceItLives) {
  Json held = pod("2", "0", "Pending");
  held["gates"] = Json::array({"slice"});
  always_.see(pod("1", "0"), false);
  always_.see(held, false);
  EXPECT_THAT(always_.violations(), IsEmpty());
  held.erase("gates");
  always_.see(held, false);
  EXPECT_THAT(always_.violations(), SizeIs(1));
}

TEST_F(AlwaysDistinct, FollowsAnObjectToItsNewPlace) {
  always_.see(pod("1", "0"), false);
  always_.see(pod("1", "1"), false);
  always_.see(pod("2", "0"), false);
  EXPECT_THAT(always_.violations(), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::e2e

// Which connection is closed when there are too many: arbitration.h and SessionRegistry, without sockets.
#include "api/http/server/session_registry.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/unit/api/http/fake_session.h"

namespace tpuslice::http::testing {
namespace {

using Phase = Activity::Phase;
using namespace std::chrono_literals;

constexpr Instant at(Duration time) { return Instant(1h + time); }

TEST(Arbitration, TheAddressWithTheMostGivesFirst) {
  EXPECT_TRUE(gives_before({.amount = 3, .since = at(9s)}, {.amount = 2, .since = at(1s)}));
  EXPECT_TRUE(gives_before({.amount = 2, .since = at(1s)}, {.amount = 2, .since = at(9s)}));
  EXPECT_TRUE(gives_before({.amount = 1}, {.amount = 9, .is_protected = true}));
}

TEST(Arbitration, AnAddressGivesOnlyToOneThatHasLess) {
  EXPECT_TRUE(gives_to({.amount = 3}, {.amount = 2}));
  EXPECT_FALSE(gives_to({.amount = 2}, {.amount = 2}));
  EXPECT_FALSE(gives_to({.amount = 9, .is_protected = true}, {.amount = 1}));
  EXPECT_TRUE(gives_to({.amount = 1}, {.amount = 2, .is_protected = true}));
}

class Connections : public ::testing::Test {
 protected:
  std::shared_ptr<FakeSession> connect(const std::string& address) {
    now_ += 1ms;
    auto session = std::make_shared<FakeSession>(now_);
    if (!registry_.add(session, address, limits_, now_)) return nullptr;
    of_[address].push_back(session);
    return session;
  }
  void connect(const std::string& address, int times) {
    for (int i = 0; i < times; ++i) connect(address);
  }
  /// A whole network.
  void flood(int addresses, int times) {
    for (int i = 0; i < times; ++i) {
      for (int each = 0; each < addresses; ++each) connect(fmt::format("attacker-{}", each));
    }
  }
  std::size_t open(const std::string& address) {
    return static_cast<std::size_t>(std::ranges::count(of_[address], false, &FakeSession::aborted));
  }
  std::size_t open() {
    std::size_t all = 0;
    for (const auto& [address, ignored] : of_) all += open(address);
    return all;
  }
  void TearDown() override {
    for (const auto& [ignored, sessions] : of_) {
      for (const auto& each : sessions) registry_.remove(each.get());
    }
    EXPECT_TRUE(registry_.all().empty());
  }

  SessionRegistry::Limits limits_{.total = 64, .per_peer = 32};
  SessionRegistry registry_;
  std::map<std::string, std::vector<std::shared_ptr<FakeSession>>> of_;
  Instant now_ = at(0s);
};

TEST_F(Connections, OfOneAddressAreLimited) {
  connect("greedy", 100);
  EXPECT_EQ(open("greedy"), 32U);
}

TEST_F(Connections, AreTakenFromTheAddressWithTheMost) {
  connect("few", 10);
  connect("many", 32);
  connect("more", 32);
  EXPECT_EQ(open("few"), 10U);
  connect("new", 5);
  EXPECT_EQ(open("few"), 10U);
  EXPECT_EQ(open("new"), 5U);
  EXPECT_EQ(open(), 64U);
}

TEST_F(Connections, OfAnAddressWithLessThanItsShareAreNeverTaken) {
  connect("server", 2);
  flood(16, 50);
  EXPECT_EQ(open("server"), 2U);
  for (int i = 0; i < 20; ++i) {
    const auto handshake = connect("server");
    flood(16, 3);
    EXPECT_FALSE(handshake->aborted) << "48 connections of others were made meanwhile";
    registry_.remove(handshake.get());
    of_["server"].pop_back();
  }
}

TEST_F(Connections, OfAllAddressesBecomeEqual) {
  flood(4, 100);
  connect("late", 100);
  EXPECT_GE(open("late"), 12U);
  for (int i = 0; i < 4; ++i) EXPECT_GE(open(fmt::format("attacker-{}", i)), 12U);
}

TEST_F(Connections, TheLastOneOfAnAddressStaysWhileAnotherHasTwo) {
  for (int i = 0; i < 62; ++i) connect(fmt::format("single-{}", i));
  connect("two", 2);
  connect("new");
  EXPECT_EQ(open("two"), 1U);
  EXPECT_EQ(open(), 64U);
}

TEST_F(Connections, OfMoreAddressesThanThereArePlacesTheOldestIsClosed) {
  const auto first = connect("single-0");
  for (int i = 1; i < 64; ++i) connect(fmt::format("single-{}", i));
  const auto added = connect("new");
  ASSERT_NE(added, nullptr);
  EXPECT_TRUE(first->aborted);
  EXPECT_EQ(open(), 64U);
  EXPECT_NE(connect("single-1"), nullptr) << "it has one already: its own is closed";
  EXPECT_EQ(open("single-1"), 1U);
  EXPECT_EQ(open("single-2"), 1U);
}

TEST_F(Connections, OfATrustedAddressAreNotTakenByUnknownOnes) {
  connect("server", 20);
  registry_.trust(of_["server"].front().get(), now_);
  flood(200, 3);
  EXPECT_EQ(open("server"), 20U);
}

TEST_F(Connections, OfATrustedAddressAreProtectedUpToHalfOfAll) {
  limits_.per_peer = 64;
  connect("server", 64);
  registry_.trust(of_["server"].front().get(), now_);
  flood(200, 3);
  EXPECT_EQ(open("server"), 32U);
}

TEST_F(Connections, ATrustedAddressGetsAConnectionHoweverManyOthersThereAre) {
  connect("server");
  registry_.trust(of_["server"].front().get(), now_);
  flood(200, 1);
  connect("server", 9);
  EXPECT_EQ(open("server"), 10U);
}

TEST_F(Connections, OfTrustedAddressesAreSharedByTheRule) {
  for (int i = 0; i < 8; ++i) {
    connect(fmt::format("attacker-{}", i), 8);
    registry_.trust(of_[fmt::format("attacker-{}", i)].back().get(), now_);
  }
  connect("unknown", 3);
  EXPECT_EQ(open("unknown"), 3U) << "trusted addresses have more than half";
}

TEST_F(Connections, OfAnAddressThatWasTrustedAreProtectedWhenItConnectsAgain) {
  const auto session = connect("server");
  registry_.trust(session.get(), now_);
  registry_.remove(session.get());
  of_["server"].clear();
  const auto again = connect("server");
  flood(200, 3);
  EXPECT_FALSE(again->aborted);
}

TEST_F(Connections, TrustEndsAfterAnHour) {
  const auto session = connect("server");
  registry_.trust(session.get(), now_);
  now_ += 61min;
  flood(200, 3);
  EXPECT_TRUE(session->aborted);
}

TEST_F(Connections, IdleOnesAreClosedBeforeThoseInUse) {
  connect("many", 32);
  connect("others", 32);
  of_["many"][0]->enter(Phase::kReading, now_ - 10s);
  of_["many"][1]->enter(Phase::kWriting, now_ - 10s);
  of_["many"][2]->enter(Phase::kBusy, now_ - 10s);
  connect("many");
  EXPECT_TRUE(of_["many"][3]->aborted);
}

TEST_F(Connections, ThatDoNotReadTheirReplyAreClosed) {
  limits_ = {.total = 4, .per_peer = 4};
  connect("many", 4);
  for (const auto& each : of_["many"]) each->enter(Phase::kWriting, now_);
  of_["many"][2]->enter(Phase::kWriting, now_ - 1s);
  EXPECT_NE(connect("new"), nullptr);
  EXPECT_TRUE(of_["many"][2]->aborted);
}

TEST_F(Connections, WhoseHandlerRunsAreNotClosed) {
  limits_ = {.total = 4, .per_peer = 4};
  connect("many", 4);
  for (const auto& each : of_["many"]) each->enter(Phase::kBusy, now_ - 10s);
  EXPECT_EQ(connect("new"), nullptr);
  of_["many"][3]->enter(Phase::kIdle, now_);
  EXPECT_NE(connect("new"), nullptr);
  EXPECT_TRUE(of_["many"][3]->aborted);
}

}  // namespace
}  // namespace tpuslice::http::testing

// Who waits for bytes and handlers, and who loses them, without sockets.
#include "api/http/server/fair_budget.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/unit/api/http/fake_session.h"

namespace tpuslice::http::testing {
namespace {

using namespace std::chrono_literals;
using State = FairBudget::State;

class Budget : public ::testing::Test {
 protected:
  struct Client {
    explicit Client(Instant now) : session(std::make_shared<FakeSession>(now)) {}
    std::shared_ptr<FakeSession> session;
    FairBudget::Claim claim;
    bool granted = false;
    [[nodiscard]] bool is_granted() const { return granted || session->resumed > 0; }
  };

  /// 1,000 bytes are the most of one address.
  static FairBudget::Limits bodies() { return {.bytes = 4000, .slow = 1s}; }
  static FairBudget::Limits replies() { return {.bytes = 4000, .handlers = 2, .slow = 1s}; }
  void set(const FairBudget::Limits& limits) { budget_.emplace(limits); }

  Client& claim(const std::string& address, std::size_t bytes, State granted) {
    Client& client = clients_.emplace_back(now_);
    client.granted = budget_->claim(client.claim, client.session, address, bytes, granted, now_);
    return client;
  }
  Client& read(const std::string& address, std::size_t bytes) { return claim(address, bytes, State::kMoves); }
  Client& handle(const std::string& address) { return claim(address, 1, State::kKept); }
  void release(Client& client) { budget_->release(client.claim, now_); }
  void wait(Duration time) {
    now_ += time;
    budget_->take_back(now_);
  }
  void TearDown() override {
    for (Client& each : clients_) release(each);
    EXPECT_EQ(budget_->used(), 0U);
  }

  std::optional<FairBudget> budget_;
  std::deque<Client> clients_;
  Instant now_ = Instant(1h);
};

TEST_F(Budget, IsGrantedWhileThereIsRoom) {
  set(bodies());
  EXPECT_TRUE(read("a", 400).granted);
  EXPECT_TRUE(read("a", 600).granted);
  EXPECT_EQ(budget_->used(), 1000U);
}

TEST_F(Budget, GivesAnAddressAQuarter) {
  set(bodies());
  Client& first = read("a", 900);
  Client& second = read("a", 200);
  EXPECT_FALSE(second.is_granted());
  EXPECT_TRUE(read("b", 1000).granted);
  release(first);
  EXPECT_TRUE(second.is_granted());
}

TEST_F(Budget, TakesAClaimOfMoreThanAQuarterForAQuarter) {
  set(bodies());
  EXPECT_TRUE(read("a", 1'000'000).granted);
  EXPECT_EQ(budget_->used(), 1000U);
}

TEST_F(Budget, GivesAddressesTurns) {
  set(replies());
  Client& first = handle("a");
  Client& second = handle("a");
  std::vector<Client*> many;
  for (int i = 0; i < 50; ++i) many.push_back(&handle("a"));
  Client& good = handle("b");
  EXPECT_FALSE(good.is_granted());
  release(first);
  EXPECT_TRUE(many[0]->is_granted());
  release(second);
  EXPECT_TRUE(good.is_granted()) << "49 requests of another address were there before";
  EXPECT_FALSE(many[1]->is_granted());
}

TEST_F(Budget, GivesTheNextTurnToTheAddressThatHadNoneForTheLongestTime) {
  set({.bytes = 4000, .handlers = 1, .slow = 1s});
  Client* running = &handle("z");
  std::vector<Client*> waiting;
  for (int round = 0; round < 3; ++round) {
    for (const char* address : {"a", "b", "c"}) waiting.push_back(&handle(address));
  }
  for (Client* next : waiting) {
    EXPECT_FALSE(next->is_granted());
    release(*running);
    ASSERT_TRUE(next->is_granted());
    running = next;
  }
}

TEST_F(Budget, RunsNoMoreHandlersThanItMay) {
  set(replies());
  EXPECT_TRUE(handle("a").granted);
  EXPECT_TRUE(handle("b").granted);
  EXPECT_FALSE(handle("c").is_granted());
}

TEST_F(Budget, RunsNoHandlerForAnAddressThatDoesNotReadItsReplies) {
  set(replies());
  Client& unread = handle("a");
  budget_->move(unread.claim, 1500, now_);  // Made before its size was known.
  Client& next = handle("a");
  EXPECT_FALSE(next.is_granted());
  EXPECT_TRUE(handle("b").granted);
  release(unread);
  EXPECT_TRUE(next.is_granted());
}

TEST_F(Budget, ClosesAConnectionThatHasNotReadItsReplyWhenAnotherOfItsAddressWaits) {
  set(replies());
  Client& unread = handle("a");
  budget_->move(unread.claim, 1000, now_);
  wait(2s);
  EXPECT_FALSE(unread.session->aborted) << "no claim waits";
  Client& next = handle("a");
  EXPECT_TRUE(unread.session->aborted);
  EXPECT_TRUE(next.is_granted());
}

TEST_F(Budget, ClosesUnreadRepliesOfOthersForAnAddressWithLess) {
  set(replies());
  std::vector<Client*> unread;
  for (const char* address : {"a", "b", "c", "d"}) {
    unread.push_back(&handle(address));
    budget_->move(unread.back()->claim, 1000, now_);
    now_ += 1ms;
  }
  Client& good = handle("good");
  EXPECT_FALSE(good.is_granted()) << "they may be read just now";
  wait(100ms);
  EXPECT_TRUE(good.is_granted());
  EXPECT_TRUE(unread[0]->session->aborted);
  EXPECT_FALSE(unread[1]->session->aborted) << "one was enough";
}

TEST_F(Budget, DropsSlowBodiesOfOthersForASmallerOne) {
  set(bodies());
  for (int i = 0; i < 100; ++i) read(fmt::format("slow-{}", i % 20), 1000);
  now_ += 150ms;
  Client& good = read("good", 200);
  EXPECT_TRUE(good.is_granted());
}

TEST_F(Budget, DropsAsManySlowBodiesAsAreNeeded) {
  set(bodies());
  for (const char* address : {"a", "b", "c", "d"}) {
    for (int i = 0; i < 10; ++i) read(address, 100);
  }
  now_ += 1100ms;
  Client& good = read("good", 1000);
  EXPECT_TRUE(good.is_granted());
  EXPECT_EQ(std::ranges::count_if(clients_, [](const Client& each) { return each.session->aborted; }), 10);
}

TEST_F(Budget, DropsABodyOfAnEqualOnlyAfterTheWholeTime) {
  set(bodies());
  for (const char* address : {"a", "b", "c", "d"}) read(address, 1000);
  Client& equal = read("e", 1000);
  wait(900ms);
  EXPECT_FALSE(equal.is_granted());
  wait(200ms);
  EXPECT_TRUE(equal.is_granted());
}

TEST_F(Budget, DropsNoBodyWhoseHandlerRuns) {
  set(bodies());
  std::vector<Client*> handled;
  for (const char* address : {"a", "b", "c", "d"}) {
    handled.push_back(&read(address, 1000));
    budget_->keep(handled.back()->claim, now_);
  }
  Client& good = read("good", 100);
  wait(1h);
  EXPECT_FALSE(good.is_granted());
  release(*handled[2]);
  EXPECT_TRUE(good.is_granted());
}

TEST_F(Budget, LetsAClaimThatFitsPassOnesThatDoNot) {
  set(bodies());
  for (const char* address : {"a", "b", "c"}) read(address, 1000);
  read("d", 500);
  Client& large = read("e", 800);
  EXPECT_FALSE(large.is_granted());
  EXPECT_TRUE(read("f", 300).granted);
}

TEST_F(Budget, ForgetsAWaitingClaimThatIsReleased) {
  set(bodies());
  Client& first = read("a", 1000);
  Client& gone = read("a", 1000);
  Client& next = read("a", 1000);
  release(gone);
  release(first);
  EXPECT_EQ(gone.session->resumed, 0);
  EXPECT_TRUE(next.is_granted());
}

}  // namespace
}  // namespace tpuslice::http::testing

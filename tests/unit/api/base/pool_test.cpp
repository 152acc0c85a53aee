#include "api/base/pool.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace tpuslice {
namespace {

struct Counted {
  Counted() { ++made; }
  static inline int made = 0;
  int uses = 0;
};

int use(Counted& object) { return ++object.uses; }

TEST(Pool, ReusesAnObject) {
  Counted::made = 0;
  Pool<Counted> pool(2);
  EXPECT_EQ(pool.with(use), 1);
  EXPECT_EQ(pool.with(use), 2);
  EXPECT_EQ(Counted::made, 1);
}

TEST(Pool, GivesAnObjectToOneUserAtATime) {
  Counted::made = 0;
  Pool<Counted> pool(2);
  const int inner = pool.with([&](Counted& outer) {
    EXPECT_EQ(use(outer), 1);
    return pool.with(use);
  });
  EXPECT_EQ(inner, 1);
  EXPECT_EQ(Counted::made, 2);
}

TEST(Pool, KeepsNoMoreThanItsLimit) {
  Counted::made = 0;
  Pool<Counted> pool(1);
  const auto use_two = [&] { return pool.with([&](Counted&) { return pool.with(use); }); };
  use_two();
  use_two();
  EXPECT_EQ(Counted::made, 3);
}

TEST(Pool, DropsTheObjectOfAUserThatThrows) {
  Counted::made = 0;
  Pool<Counted> pool(1);
  EXPECT_THROW(pool.with([](Counted&) -> int { throw std::runtime_error("bad"); }), std::runtime_error);
  EXPECT_EQ(pool.with(use), 1);
  EXPECT_EQ(Counted::made, 2);
}

}  // namespace
}  // namespace tpuslice

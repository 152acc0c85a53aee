#include "api/client/page_size.h"

#include <gtest/gtest.h>

namespace tpuslice::client {
namespace {

/// Reads a list of `objects` with pages of at most `most`, or a page of one if `is_long`(index). Returns the number of
/// requests.
template <typename IsLong>
int requests_for(int objects, int most, IsLong is_long) {
  PageSize size(500, 10'000);
  int requests = 0;
  for (int at = 0; at < objects && requests < 100'000;) {
    ++requests;
    const int end = std::min<int>(objects, at + static_cast<int>(size.objects()));
    bool too_long = end - at > most;
    for (int i = at; i < end; ++i) too_long = too_long || is_long(i);
    if (too_long && size.shrink()) continue;
    if (too_long) ++requests;  // Its metadata.
    at = end;
    size.fits();
  }
  return requests;
}

TEST(PageSize, IsUsualWhileAllPagesFit) {
  EXPECT_EQ(requests_for(5000, 500, [](int) { return false; }), 10);
}

TEST(PageSize, IsUsualAgainAfterOneLongObject) {
  EXPECT_LT(requests_for(5000, 500, [](int i) { return i == 700; }), 45);
}

TEST(PageSize, OfManyLongObjectsCostsAFewRequestsEach) {
  EXPECT_LT(requests_for(5000, 500, [](int i) { return i % 100 == 7; }), 50 * 20);
  EXPECT_LE(requests_for(1000, 500, [](int) { return true; }), 3 * 1000 + 20);
}

TEST(PageSize, StaysNearTheLargestThatFits) {
  EXPECT_LT(requests_for(5000, 16, [](int) { return false; }), 2 * 5000 / 16);
}

TEST(PageSize, GrowsWhenTokensExpireUpToItsMaximum) {
  PageSize size(500, 1500);
  EXPECT_TRUE(size.grow());
  EXPECT_EQ(size.objects(), 1500);
  EXPECT_FALSE(size.grow());
  EXPECT_TRUE(size.shrink());
  EXPECT_FALSE(size.grow()) << "larger pages were too long";
  EXPECT_EQ(size.objects(), 750);
}

}  // namespace
}  // namespace tpuslice::client

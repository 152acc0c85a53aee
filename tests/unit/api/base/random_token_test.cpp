#include "api/base/random_token.h"

#include <gtest/gtest.h>

#include <set>

namespace tpuslice {
namespace {

TEST(RandomToken, IsBase64Of32BytesAndNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const Result<std::string> token = random_token();
    ASSERT_TRUE(token.ok());
    EXPECT_EQ(token->size(), 44U);
    EXPECT_EQ(token->back(), '=');
    EXPECT_TRUE(seen.insert(*token).second);
  }
}

}  // namespace
}  // namespace tpuslice

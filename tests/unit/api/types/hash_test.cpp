#include "api/types/hash.h"

#include <gtest/gtest.h>

#include <set>

namespace tpuslice {
namespace {

// These values are in names of objects that exist: a change here is a change to users' clusters.
TEST(Hash, NeverChanges) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8ULL);
  EXPECT_EQ(sha1_hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(ShortHash, UsesTheSafeAlphabet) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string hash = short_hash(std::to_string(i), 10);
    EXPECT_EQ(hash.size(), 10U);
    EXPECT_EQ(hash.find_first_not_of("bcdfghjklmnpqrstvwxz2456789"), std::string::npos);
    seen.insert(hash);
  }
  EXPECT_EQ(seen.size(), 1000U);
  EXPECT_EQ(short_hash("a", 5), short_hash("a", 13).substr(0, 5));
}

}  // namespace
}  // namespace tpuslice

#include "api/base/hash.h"

#include <gtest/gtest.h>

#include <set>

namespace tpuslice {
namespace {

// Names of existing objects contain these values, so they must never change.
TEST(Hash, HasFixedValues) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8ULL);
  EXPECT_EQ(fnv1a("bar", fnv1a("foo")), fnv1a("foobar"));
  EXPECT_EQ(fnv1_32("a"), 0x050c5d7eU);
  EXPECT_EQ(safe_encode("0123456789"), "456789bcdf");
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

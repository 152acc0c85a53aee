#include "cmd/tpu-slice-sim/registry/ids.h"

#include <string_view>

#include <fmt/format.h>

#include "api/base/hash.h"

namespace tpuslice::sim {
namespace {

/// splitmix64: a bijection that looks random, so different counters never collide.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

}  // namespace

std::string Ids::uid() {
  const std::uint64_t count = ++uids_;
  const std::uint64_t high = mix(seed_ ^ mix(count));
  const std::uint64_t low = mix(seed_ + count);
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", high >> 32U, (high >> 16U) & 0xffffU, high & 0xfffU,
                     0x8000U | ((low >> 48U) & 0x3fffU), low & 0xffffffffffffULL);
}

std::string Ids::suffix() {
  std::uint64_t random = mix(~seed_ ^ mix(++suffixes_));
  std::string text;
  for (int i = 0; i < 5; ++i) {
    text += kSafeAlphabet[random % kSafeAlphabet.size()];
    random /= kSafeAlphabet.size();
  }
  return text;
}

}  // namespace tpuslice::sim

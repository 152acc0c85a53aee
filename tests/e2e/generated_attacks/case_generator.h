// CaseGenerator: attacks by number. The same seed and number give the same attack, as long as schemas, sources and
// samples do not change; to_json() of an attack reproduces it anyway.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/e2e/generated_attacks/attack_case.h"
#include "tests/e2e/generated_attacks/field_catalog.h"
#include "tests/e2e/generated_attacks/seed_objects.h"

namespace tpuslice::testing {

/// Attacks of one batch are sent in the same way, and their objects are stored together.
inline constexpr std::uint64_t kBatchSize = 8;

class CaseGenerator {
 public:
  /// Both outlive it.
  CaseGenerator(const FieldCatalog& catalog, const SeedObjects& seeds, std::uint64_t seed)
      : catalog_(catalog), seeds_(seeds), seed_(seed) {}

  [[nodiscard]] AttackCase at(std::uint64_t index) const;
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

 private:
  const FieldCatalog& catalog_;
  const SeedObjects& seeds_;
  const std::uint64_t seed_;
};

}  // namespace tpuslice::testing

// Faults between an operator and its API server: one kind at a time, all kinds together, random ones.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <vector>

#include "api/base/random.h"
#include "tests/support/operator_world.h"

namespace tpuslice::testing {

struct NamedFaults {
  const char* name;
  sim::Faults faults{};
  Duration compact_every{};
};
inline void PrintTo(const NamedFaults& faults, std::ostream* out) { *out << faults.name; }

[[nodiscard]] inline std::vector<NamedFaults> all_faults() {
  using namespace std::chrono_literals;
  return {NamedFaults{"LostReplies", {.drop_reply_every = 3}},
          NamedFaults{"Conflicts", {.conflict_every = 2}},
          NamedFaults{"TooManyRequests", {.too_many_every = 3}},
          NamedFaults{"ServerErrors", {.error_every = 4}},
          NamedFaults{"UnreachableServer", {.unreachable_every = 3}},
          NamedFaults{"ExpiredWatches", {.gone_every = 2}},
          NamedFaults{"CutWatches", {.cut_watch_every = 2}},
          NamedFaults{"LateEvents", {.delay_watch = 5s}},
          NamedFaults{"Compaction", {.cut_watch_every = 3}, 1s},
          NamedFaults{"AllFaults",
                      {.drop_reply_every = 7,
                       .conflict_every = 5,
                       .too_many_every = 11,
                       .error_every = 13,
                       .unreachable_every = 17,
                       .gone_every = 3,
                       .cut_watch_every = 5,
                       .delay_watch = 300ms},
                      2s}};
}

/// run_until() of `world`, with compactions as `faults` says.
inline bool run_until_with(const NamedFaults& faults, OperatorWorld& world, const std::function<bool()>& condition) {
  Instant compacted = world.clock.now();
  return world.run_until(
      [&] {
        if (faults.compact_every > Duration{} && world.clock.now() - compacted >= faults.compact_every) {
          world.cluster.compact();
          compacted = world.clock.now();
        }
        return condition();
      },
      std::chrono::hours(1));
}

[[nodiscard]] inline sim::Faults random_faults(Random& random) {
  const auto sometimes = [&](int min, int max) { return random.uniform(0, 3) == 0 ? random.uniform(min, max) : 0; };
  sim::Faults faults;
  faults.die_at_write = sometimes(1, 20);
  faults.die_before_server = random.uniform(0, 1) == 0;
  faults.drop_reply_every = sometimes(2, 9);
  faults.conflict_every = sometimes(2, 9);
  faults.error_every = sometimes(4, 20);
  faults.gone_every = sometimes(1, 4);
  faults.cut_watch_every = sometimes(1, 6);
  faults.delay_watch = std::chrono::milliseconds(sometimes(50, 3000));
  return faults;
}

[[nodiscard]] inline std::int64_t env_integer(const char* variable, std::int64_t fallback) {
  const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): before any thread
  return text == nullptr ? fallback : std::atoll(text);
}

}  // namespace tpuslice::testing

#include "tpu/waiting.h"

#include <map>
#include <string>

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "tpu/labels.h"
#include "tpu/placement.h"

namespace tpuslice::tpu {
namespace {

/// In a message; a slice of its own may take a few lines.
constexpr std::size_t kSlicesTold = 3;

}  // namespace

void tell_waiting(const std::vector<std::shared_ptr<const PodView>>& pods, std::int64_t generation, Timestamp now,
                  Json& conditions) {
  std::map<std::string, std::string> waiting;
  for (const auto& pod : pods) {
    const auto why = pod->annotations.find(kWaiting);
    if (why == pod->annotations.end() || pod->terminating()) continue;
    waiting[std::string(name_in_slice_key(pod->label(kSlice)))] = why->second;
  }
  if (waiting.empty()) {
    remove_condition(conditions, kSlicesPlaced);
    return;
  }
  std::vector<std::string> told;
  for (const auto& [slice, why] : waiting) {
    if (told.size() < kSlicesTold) told.push_back(fmt::format("{}: {}", slice, why));
  }
  // Not how many: they are told one after the other, and each number would be a write.
  if (waiting.size() > told.size()) told.emplace_back("others wait, too");
  set_condition(
      conditions,
      {std::string(kSlicesPlaced), "False", "SlicesWaiting", fmt::format("{}", fmt::join(told, "; ")), generation},
      now);
}

}  // namespace tpuslice::tpu

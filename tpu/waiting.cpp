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
constexpr std::size_t kMostTold = 3;

/// Why, by who.
using Reasons = std::map<std::string, std::string, std::less<>>;

/// Not how many there are: they come one after the other, and each number would be a write.
std::string to_message(const Reasons& reasons) {
  std::vector<std::string> told;
  for (const auto& [who, why] : reasons) {
    if (told.size() < kMostTold) told.push_back(fmt::format("{}: {}", who, why));
  }
  if (reasons.size() > told.size()) told.emplace_back("others wait, too");
  return fmt::format("{}", fmt::join(told, "; "));
}

void tell(std::string_view condition, std::string_view reason, const Reasons& reasons, std::int64_t generation,
          Timestamp now, Json& conditions) {
  if (reasons.empty()) {
    remove_condition(conditions, condition);
    return;
  }
  set_condition(conditions, {std::string(condition), "False", std::string(reason), to_message(reasons), generation},
                now);
}

}  // namespace

bool is_waiting(const PodView& pod) {
  return !pod.terminating() && (!pod.stuck.empty() || pod.annotations.contains(kWaiting));
}

void tell_waiting(const std::vector<std::shared_ptr<const PodView>>& pods, std::int64_t generation, Timestamp now,
                  Json& conditions) {
  Reasons slices;
  Reasons stuck;
  for (const auto& pod : pods) {
    if (!is_waiting(*pod)) continue;
    const auto why = pod->annotations.find(kWaiting);
    if (why != pod->annotations.end()) slices[std::string(name_in_slice_key(pod->label(kSlice)))] = why->second;
    if (!pod->stuck.empty()) stuck["pod " + pod->key.name] = pod->stuck;
  }
  tell(kSlicesPlaced, "SlicesWaiting", slices, generation, now, conditions);
  tell(kContainersStarted, "ContainersStuck", stuck, generation, now, conditions);
}

}  // namespace tpuslice::tpu

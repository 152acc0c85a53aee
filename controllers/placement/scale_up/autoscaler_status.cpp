#include "controllers/placement/scale_up/autoscaler_status.h"

#include <optional>
#include <string>

namespace tpuslice::placement {
namespace {

constexpr std::string_view kLastUpdated = "cluster-autoscaler.kubernetes.io/last-updated";
/// The autoscaler updates it every 10 seconds, and clocks differ.
constexpr Duration kMaxAge = std::chrono::minutes(5);

/// "2026-01-01 12:00:00.123 +0000 UTC"; absent for another form or zone.
std::optional<Timestamp> parse_last_updated(const std::string& text) {
  constexpr std::size_t kDate = 10;
  constexpr std::size_t kTime = 8;
  if (text.size() < kDate + 1 + kTime || text.find(" +0000") == std::string::npos) return std::nullopt;
  return parse_rfc3339(text.substr(0, kDate) + "T" + text.substr(kDate + 1, kTime) + "Z");
}

}  // namespace

bool has_autoscaler(const ConfigMapStore& config_maps, Timestamp now) {
  const auto status = config_maps.get({std::string(kAutoscalerNamespace), std::string(kAutoscalerConfigMap)});
  if (status == nullptr) return false;
  const auto text = status->annotations.find(kLastUpdated);
  if (text == status->annotations.end()) return true;
  const std::optional<Timestamp> updated = parse_last_updated(text->second);
  return !updated || now < *updated + kMaxAge;
}

}  // namespace tpuslice::placement

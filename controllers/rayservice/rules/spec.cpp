#include "controllers/rayservice/rules/spec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "api/base/strings.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::rayservice {
namespace {

/// Maximum of a timeout: a Duration can hold it, and a time plus it.
constexpr double kMaxSeconds = 10.0 * 365 * 24 * 3600;

std::optional<Duration> positive(double seconds) {
  if (!(seconds > 0) || seconds > kMaxSeconds) return std::nullopt;
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

/// Takes "1.5h" from the front of `text`: its seconds.
std::optional<double> take_term(std::string_view& text) {
  // The units of Go durations. Microseconds have three: with u, the micro sign and the Greek letter.
  constexpr std::array<std::pair<std::string_view, double>, 8> kUnits{{{"ns", 1e-9},
                                                                       {"us", 1e-6},
                                                                       {"\u00b5s", 1e-6},
                                                                       {"\u03bcs", 1e-6},
                                                                       {"ms", 1e-3},
                                                                       {"s", 1},
                                                                       {"m", 60},
                                                                       {"h", 3600}}};
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (problem != std::errc() || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stopped - text.data()));
  const auto unit = std::ranges::find_if(kUnits, [&](const auto& each) { return text.starts_with(each.first); });
  if (unit == kUnits.end()) return std::nullopt;
  text.remove_prefix(unit->first.size());
  return value * unit->second;
}

int percent_at(const Json* options, std::string_view field, int absent) {
  if (options == nullptr) return absent;
  return static_cast<int>(std::clamp<std::int64_t>(int_at(*options, {field}, absent), 0, 100));
}

IncrementalOptions read_incremental(const Json* options) {
  IncrementalOptions out;
  out.step_size = percent_at(options, "stepSizePercent", 0);
  out.max_surge = percent_at(options, "maxSurgePercent", IncrementalOptions::kDefaultMaxSurge);
  if (options == nullptr) return out;
  out.gateway_class = string_at(*options, {"gatewayClassName"});
  out.interval = std::chrono::seconds(std::max<std::int64_t>(int32_at(*options, {"intervalSeconds"}).value_or(0), 0));
  return out;
}

}  // namespace

std::optional<Duration> parse_timeout(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (const auto seconds = parse_integer<std::int64_t>(text)) return positive(static_cast<double>(*seconds));
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    const std::optional<double> term = take_term(text);
    if (!term) return std::nullopt;
    total += *term;
  }
  return positive(total);
}

bool RayServiceSpec::managed_by_other() const {
  return !managed_by.empty() && managed_by != raycluster::kKubeRayManager;
}

RayServiceSpec RayServiceSpec::read(const Object& service) {
  const Json& json = service.json();
  RayServiceSpec out;
  out.key = service.key();
  out.uid = service.uid();
  out.owner = service.as_controller();
  out.cluster_config = find_set(json, {"spec", "rayClusterConfig"});
  out.serve_service = find_set(json, {"spec", "serveService"});
  out.serve_config = string_at(json, {"spec", "serveConfigV2"});
  out.upgrade_type = string_at(json, {"spec", "upgradeStrategy", "type"}, kNewCluster);
  if (out.upgrade_type == kIncrementalUpgrade) {
    out.incremental = read_incremental(find_set(json, {"spec", "upgradeStrategy", "clusterUpgradeOptions"}));
  }
  const std::int64_t delay =
      int32_at(json, {"spec", "rayClusterDeletionDelaySeconds"}).value_or(kDefaultDeletionDelaySeconds);
  out.deletion_delay = std::chrono::seconds(std::max<std::int64_t>(delay, 0));
  out.exclude_head = bool_at(json, {"spec", "excludeHeadPodFromServeSvc"});
  out.suspend = bool_at(json, {"spec", "suspend"});
  out.managed_by = string_at(json, {"spec", "managedBy"});
  out.initializing_timeout = parse_timeout(service.annotation(kInitializingTimeout));
  out.replace_without_room = service.annotation(kUpgradeWithoutRoom) == kReplaceWithoutRoom;
  return out;
}

}  // namespace tpuslice::rayservice

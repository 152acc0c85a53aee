#include "cmd/tpu-slice-operator/feature_gates.h"

#include <algorithm>
#include <ranges>

#include <fmt/ranges.h>

#include "api/base/strings.h"

namespace tpuslice {
namespace {

constexpr std::string_view kAllAlpha = "AllAlpha";
constexpr std::string_view kAllBeta = "AllBeta";

const Feature* find(std::string_view name) {
  const auto& all = FeatureGates::known();
  const auto found = std::ranges::find(all, name, &Feature::name);
  return found == all.end() ? nullptr : &*found;
}

std::string_view text_of(FeatureStage stage) { return stage == FeatureStage::kAlpha ? "ALPHA" : "BETA"; }

}  // namespace

const std::vector<Feature>& FeatureGates::known() {
  static const std::vector<Feature> kKnown = {
      {kProvisioningRequests, FeatureStage::kAlpha, "--provisioning-class"},
      {kScoutPods, FeatureStage::kBeta, "--scale-up=scout"},
      {kSlicePreemption, FeatureStage::kAlpha, "--max-preemptions-per-hour"},
  };
  return kKnown;
}

Result<FeatureGates> FeatureGates::parse(std::string_view text) {
  FeatureGates gates;
  if (text.empty()) return gates;
  for (const std::string& entry : split(text, ',')) {
    const std::size_t equals = entry.find('=');
    const std::string name = trimmed(entry.substr(0, equals));
    const std::string value = equals == std::string::npos ? "" : trimmed(entry.substr(equals + 1));
    if (value != "true" && value != "false") {
      return Error::invalid_argument("found \"{}\", expected a name with =true or =false", entry);
    }
    if (find(name) == nullptr && name != kAllAlpha && name != kAllBeta) {
      return Error::invalid_argument("found \"{}\", which is not a feature; expected {}, {} or {}", name,
                                     fmt::join(known() | std::views::transform(&Feature::name), ", "), kAllAlpha,
                                     kAllBeta);
    }
    gates.values_[name] = value == "true";
  }
  return gates;
}

bool FeatureGates::enabled(std::string_view name) const {
  const Feature* const feature = find(name);
  if (feature == nullptr) return false;
  const bool alpha = feature->stage == FeatureStage::kAlpha;
  if (const auto own = values_.find(name); own != values_.end()) return own->second;
  if (const auto all = values_.find(alpha ? kAllAlpha : kAllBeta); all != values_.end()) return all->second;
  return !alpha;
}

Status FeatureGates::require(std::string_view name) const {
  if (enabled(name)) return {};
  const Feature* const feature = find(name);
  return Error::invalid_argument("{} needs --feature-gates={}=true", feature == nullptr ? "" : feature->settings, name);
}

void FeatureGates::report(Metrics& metrics) const {
  for (const Feature& feature : known()) {
    metrics
        .gauge("kubernetes_feature_enabled", "1 if the feature is enabled.",
               {{"name", std::string(feature.name)}, {"stage", std::string(text_of(feature.stage))}})
        .set(enabled(feature.name) ? 1 : 0);
  }
}

}  // namespace tpuslice

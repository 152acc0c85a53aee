// Feature gates, as those of Kubernetes: --feature-gates=SlicePreemption=true,AllBeta=false.
//
// Alpha features are off by default, beta features on; docs/upgrade.md says how long their settings stay.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/metrics.h"
#include "api/base/result.h"

namespace tpuslice {

enum class FeatureStage { kAlpha, kBeta };

/// A new entry needs a row in docs/reference.md.
struct Feature {
  std::string_view name;
  FeatureStage stage = FeatureStage::kAlpha;
  std::string_view settings;  ///< Flags that it allows, for messages.
};

inline constexpr std::string_view kSlicePreemption = "SlicePreemption";
inline constexpr std::string_view kProvisioningRequests = "ProvisioningRequests";
inline constexpr std::string_view kScoutPods = "ScoutPods";

class FeatureGates {
 public:
  [[nodiscard]] static const std::vector<Feature>& known();

  /// `text`: "Name=true,Name=false"; also AllAlpha and AllBeta, for those that are not named.
  ///
  /// Errors: InvalidArgument naming the entry, what was found and what would be right.
  [[nodiscard]] static Result<FeatureGates> parse(std::string_view text);

  [[nodiscard]] bool enabled(std::string_view name) const;
  /// Errors: InvalidArgument naming the gate, if it is not enabled.
  [[nodiscard]] Status require(std::string_view name) const;
  /// Sets kubernetes_feature_enabled, as Kubernetes' components do.
  void report(Metrics& metrics) const;

 private:
  std::map<std::string, bool, std::less<>> values_;  ///< Those that were given.
};

}  // namespace tpuslice

// Names of Fleets and their children.
#pragma once

#include <string_view>

#include "api/types/resource_type.h"

namespace tpuslice::example {

inline constexpr ResourceType kFleets{"example.com", "v1", "Fleet", "fleets"};

/// Labels of pods; the ConfigMap has the first.
inline constexpr std::string_view kFleetName = "example.com/fleet";
inline constexpr std::string_view kShip = "example.com/ship";
inline constexpr std::string_view kHost = "example.com/host";

/// What our watches of pods and ConfigMaps select.
inline constexpr std::string_view kChildSelector = kFleetName;
/// Prefix of the labels that views of pods keep.
inline constexpr std::string_view kLabelPrefix = "example.com/";

/// True once every pod of every ship is ready.
inline constexpr std::string_view kReady = "Ready";

// Reasons of failed actions, which become those of the condition Ready.
inline constexpr std::string_view kPodFailed = "FailedPodWrite";
inline constexpr std::string_view kServiceFailed = "FailedServiceWrite";
inline constexpr std::string_view kFlagFailed = "FailedFlagWrite";

}  // namespace tpuslice::example

// RayServiceSpec: fields of a RayService that controller and admission read, with the CRD's defaults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/types/object.h"

namespace tpuslice::rayservice {

inline constexpr ResourceType kRayServices{"ray.io", "v1", "RayService", "rayservices"};

// Values of upgradeStrategy.type; the first is the default.
inline constexpr std::string_view kNewCluster = "NewCluster";
inline constexpr std::string_view kNone = "None";
inline constexpr std::string_view kIncrementalUpgrade = "NewClusterWithIncrementalUpgrade";

/// Annotation: how long the service may take to become ready for the first time. A Go duration, or seconds.
inline constexpr std::string_view kInitializingTimeout = "ray.io/initializing-timeout";

/// Ours, annotation: what happens to an upgrade whose new cluster finds no nodes for its slices while the old one has
/// its own.
inline constexpr std::string_view kUpgradeWithoutRoom = "tpuslice.dev/upgrade-without-room";
// Values of the annotation; the first is the default.
inline constexpr std::string_view kWaitForRoom = "wait";
/// The old cluster is deleted first: requests fail until the new one is ready.
inline constexpr std::string_view kReplaceWithoutRoom = "replace";

inline constexpr std::int64_t kDefaultDeletionDelaySeconds = 60;

/// Maximum length of serveConfigV2 with NewClusterWithIncrementalUpgrade: it is recorded in an annotation of the
/// RayCluster, and all annotations of an object together may have 256 KiB.
inline constexpr std::size_t kMaxRecordedConfig = 128UL * 1024;

/// upgradeStrategy.clusterUpgradeOptions: how an upgrade goes step by step.
struct IncrementalOptions {
  static constexpr int kDefaultMaxSurge = 100;

  std::string gateway_class;
  int step_size = 0;                 ///< stepSizePercent: of the traffic, from 0 to 100.
  int max_surge = kDefaultMaxSurge;  ///< maxSurgePercent: of the capacity, from 0 to 100.
  Duration interval{};               ///< intervalSeconds: between two steps of the traffic.
};

/// Parses "300", "5m" or "1h30m15.5s": seconds, or a Go duration. Nothing for another text, and unless it is positive.
[[nodiscard]] std::optional<Duration> parse_timeout(std::string_view text);

/// Borrows from the document it was read from, which must outlive it.
struct RayServiceSpec {
  ObjectKey key;
  std::string uid;
  ControllerRef owner;                   ///< For children.
  const Json* cluster_config = nullptr;  ///< rayClusterConfig; null if absent.
  const Json* serve_service = nullptr;   ///< serveService; null if absent.
  std::string serve_config;              ///< serveConfigV2: YAML.
  std::string upgrade_type;              ///< The type as written, or NewCluster.
  /// Options of the type NewClusterWithIncrementalUpgrade; nothing with another type.
  std::optional<IncrementalOptions> incremental;
  Duration deletion_delay{};  ///< rayClusterDeletionDelaySeconds
  bool exclude_head = false;  ///< excludeHeadPodFromServeSvc
  bool suspend = false;
  std::string managed_by;
  std::optional<Duration> initializing_timeout;  ///< kInitializingTimeout; nothing without.
  bool replace_without_room = false;             ///< kUpgradeWithoutRoom: kReplaceWithoutRoom

  /// True if spec.managedBy assigns the service to another controller.
  [[nodiscard]] bool managed_by_other() const;

  /// Never fails: members of the wrong type count as absent; validation refuses them.
  static RayServiceSpec read(const Object& service);
  // It would borrow from a temporary.
  static RayServiceSpec read(const Object&&) = delete;
};

}  // namespace tpuslice::rayservice

// Fleet: what a person wants to know of the TPUs of a cluster: its pools and who uses them, its slices, who waits for
// what and what needs someone. Made from a snapshot by the planner of the placement controller, so its verdicts are the
// operator's own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/snapshot.h"

namespace tpuslice::fleet {

/// A workload as people name it. All empty: it is in a namespace that the reader may not see.
struct WorkloadName {
  std::string namespace_name;
  std::string kind;  ///< "RayJob"
  std::string name;

  [[nodiscard]] bool hidden() const { return name.empty(); }
  friend bool operator==(const WorkloadName&, const WorkloadName&) = default;
  friend auto operator<=>(const WorkloadName&, const WorkloadName&) = default;
};

/// "ml/rayjob/train-a"; "another namespace" of a hidden one.
[[nodiscard]] std::string to_string(const WorkloadName& workload);

/// What uses a pool: a slice, or a pod without one.
struct PoolUser {
  WorkloadName workload;
  std::string slice;      ///< Name of the slice within its workload; empty for a pod without slice.
  bool reserved = false;  ///< The pool is set aside for it.
  friend bool operator==(const PoolUser&, const PoolUser&) = default;
};

enum class PoolState : std::uint8_t {
  kInUse,
  kFree,
  kReserved,  ///< No pod uses it; it is set aside for a slice that waits.
  kBroken,    ///< A node is missing, not Ready, without chips or unreadable.
  kDraining,  ///< A node is cordoned, or is about to be removed.
  kPartial,   ///< Some of its nodes are used.
};
[[nodiscard]] std::string_view to_string(PoolState state);

/// The characters of Pool::hosts.
enum class HostState : char {
  kUsed = 'u',
  kFree = 'f',
  kReserved = 'r',
  kBroken = 'b',
  kCordoned = 'c',
  kMaintenance = 'l',  ///< It is used or free, and is stopped for maintenance within a day.
};

/// The nodes with one value of the topology key.
struct Pool {
  std::string name;
  std::string topology_key;
  std::string accelerator;         ///< "tpu-v6e-slice"
  std::string tpu;                 ///< "v6e"
  std::string topology;            ///< "4x4"; empty without a label.
  std::int64_t chips = 0;          ///< Chips of a whole pool, with those that are missing.
  std::int64_t wanted_hosts = 0;   ///< Number of nodes of a whole pool of this topology.
  std::int64_t used_hosts = 0;     ///< Number of nodes that pods use or that the next plan gives to a slice.
  std::string hosts;               ///< A HostState for each node, by name of the node.
  std::vector<std::string> nodes;  ///< Their names.
  PoolState state = PoolState::kFree;
  std::optional<Timestamp> since;  ///< The time from which it is in that state, if that is known.
  std::string problem;             ///< "node c-1 is not Ready"; empty without one.
  std::optional<Timestamp> until;  ///< When its users end at the latest, or its reservation.
  std::vector<PoolUser> users;
  std::string zone;
  std::string capacity;  ///< "reservation", "on-demand" or "spot".
  std::int64_t failures = 0;
  friend bool operator==(const Pool&, const Pool&) = default;
};

enum class SliceState : std::uint8_t {
  kWaiting,
  kPlaced,      ///< It has nodes; not all of its hosts are Ready.
  kRunning,     ///< All of its hosts are Ready.
  kRestarting,  ///< It lost a host and is torn down.
  kEnding,      ///< Its pods are terminating.
  kDone,        ///< All of its hosts have succeeded.
};
[[nodiscard]] std::string_view to_string(SliceState state);

struct FleetSlice {
  WorkloadName workload;
  std::string slice;         ///< Name of the slice within its workload: "tpu-0".
  std::string key;           ///< Value of the label tpuslice.dev/slice.
  std::string topology_key;  ///< Node label whose values are its domains.
  std::string accelerator;
  std::string tpu;
  std::string topology;
  std::int64_t hosts = 0;
  std::int64_t ready = 0;  ///< Hosts that are Ready.
  SliceState state = SliceState::kWaiting;
  std::optional<Timestamp> since;  ///< The time from which it is in that state.
  std::string pool;                ///< Pool of its nodes, or that it gets next; empty while it waits.

  // Members of a slice that waits.
  std::string code;                       ///< Waiting code; empty if it would be placed now.
  std::string reason;                     ///< The waiting reason.
  std::int64_t position = 0;              ///< Place in the queue for its kind of nodes, from 1; 0: it is not in one.
  std::vector<std::string> behind;        ///< The workloads right before it, "default/jobset/big", at most kMaxBehind.
  bool never = false;                     ///< It does not start however long it waits, unless something is changed.
  std::optional<Timestamp> queued_since;  ///< Its place in the order of the queue.

  std::string problem;  ///< Why it does not run although it has nodes.
  std::string gang;
  std::int64_t gang_slices = 1;
  std::int64_t priority = 0;
  friend bool operator==(const FleetSlice&, const FleetSlice&) = default;
};

inline constexpr std::size_t kMaxBehind = 3;

/// What needs someone.
struct Attention {
  std::string about;  ///< "pool/v6e-4x4-c", "rayjob/train-a".
  std::string namespace_name = {};
  std::string text;     ///< One sentence.
  std::string command;  ///< What to type next.
  friend bool operator==(const Attention&, const Attention&) = default;
};

struct Fleet {
  Timestamp time = {};
  ClusterInfo cluster = {};
  std::vector<Pool> pools = {};         ///< By TPU, topology and name.
  std::vector<FleetSlice> slices = {};  ///< Those in queues first, by position; then by namespace, workload and name.
  std::vector<Attention> attention = {};
  std::vector<MissingRight> missing = {};
  friend bool operator==(const Fleet&, const Fleet&) = default;
};

/// Equal snapshots give equal fleets.
[[nodiscard]] Fleet build_fleet(const Snapshot& snapshot);

/// The generation of the accelerator, "v6e"; the accelerator itself if the catalog does not have it.
[[nodiscard]] std::string tpu_name(std::string_view accelerator);

}  // namespace tpuslice::fleet

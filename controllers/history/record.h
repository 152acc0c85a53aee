// Record: an interruption as the history keeps it, and how it is written. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/types/json.h"
#include "controllers/plan/interruption.h"

namespace tpuslice::history {

/// The slice runs again.
struct Recovery {
  Timestamp time;
  std::string pool;  ///< Its domain; empty if it has none.
  friend bool operator==(const Recovery&, const Recovery&) = default;
};

/// Longest line of a record, in bytes.
inline constexpr std::size_t kMaxRecordBytes = 1200;

struct Record {
  std::int64_t sequence = -1;  ///< Position in the history, from 0; -1 until it is added there.
  Timestamp time;
  std::string namespace_name;
  std::string kind;  ///< Kind of the workload, or of the object that owns it.
  std::string name;  ///< Name of that object.
  std::string uid;   ///< Uid of the workload itself; empty if unknown.
  std::string slice;
  std::string slice_key;
  std::string placement;
  std::string what;
  std::string code;
  std::string why;
  std::optional<std::int64_t> host;
  std::string container;
  std::optional<std::int64_t> exit_code;
  std::string node;
  std::string pool;
  std::string accelerator;
  std::int64_t host_seconds = 0;
  std::optional<Recovery> recovery;  ///< Absent: the slice has not run since.

  [[nodiscard]] ObjectKey key() const { return {namespace_name, slice_key}; }
  /// Whether both are the same interruption, as two plans, or two leaders, report it.
  [[nodiscard]] bool is_same(const Record& other) const;
  /// Whether it is of this workload, or of an earlier one of its name.
  [[nodiscard]] bool is_of(const plan::ObjectReference& workload) const;

  friend bool operator==(const Record&, const Record&) = default;
};

/// Texts are bounded, so that the line has at most kMaxRecordBytes.
[[nodiscard]] Record record_of(const plan::Interruption& interruption);

/// One line of JSON, without the line end:
///
///   {"seq": 7, "time": "2026-01-01T00:00:00Z", "namespace": "ml", "kind": "RayJob", "name": "train", "uid": "...",
///    "slice": "v6e-0", "sliceKey": "...", "placement": "...", "what": "TornDown", "code": "PodLost", "why": "...",
///    "host": 2, "container": "ray-worker", "exitCode": 137, "node": "n-2", "pool": "v6e-4x4-a",
///    "accelerator": "tpu-v6e-slice", "lostHostSeconds": 5280, "backAfterSeconds": 8, "backOn": "v6e-4x4-a"}
///
/// Members without a value are left out.
[[nodiscard]] Json to_json(const Record& record);
/// Absent without a time, a sequence number and a slice.
[[nodiscard]] std::optional<Record> parse_record(std::string_view line);

}  // namespace tpuslice::history

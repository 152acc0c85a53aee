// SliceLines: the timeline with one line for each slice instead of one for each of its pods.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cmd/tpu-slice-sim/storage/storage.h"

namespace tpuslice {

/// Follows the pods of slices. Not thread-safe.
class SliceLines {
 public:
  /// Adds the lines of a change: "slice tpu-group-0: 4 pods created, gated". False if the change is not summarized, so
  /// that the timeline describes it: of other objects, and pods that fail, restart or are no longer ready. Events
  /// about pods, and those that say less than these lines, have no line.
  bool report(const sim::Change& change, std::vector<std::string>& lines);

 private:
  struct Pod {
    std::string node;
    bool ready = false;
    bool succeeded = false;
    bool ends = false;
  };
  /// The last state that has a line and still holds.
  enum class Stage : std::uint8_t { kForming, kCreated, kScheduled, kReady, kSucceeded, kEnding };
  struct Slice {
    std::map<std::string, Pod> pods;  ///< By name, without those that have failed.
    std::size_t hosts = 0;
    Stage stage = Stage::kForming;
  };

  bool report_pod(const sim::Change& change, std::vector<std::string>& lines);
  static void advance(const std::string& name, const Json& pod, Slice& slice, std::vector<std::string>& lines);

  std::map<std::string, Slice> slices_;
};

}  // namespace tpuslice

// SliceText: the pods of one slice as JSON text, most of which is the same for all of its hosts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::raycluster {

/// The fields in which the pods of a slice differ.
struct SliceHost {
  int index = 0;
  std::string pod_name;
  std::string hostname;
};

/// Immutable.
class SliceText {
 public:
  /// `pod`: the pod of host 0. `common`: the fields that all pods of the group share; a field that is set there is the
  /// user's and is not replaced. Nothing if `pod` contains text that could be a mark.
  static std::optional<SliceText> make(Json pod, const Json& common);

  [[nodiscard]] std::string of(const SliceHost& host) const;

 private:
  enum class Field : char { kPodName = 'n', kHostname = 'h', kIndex = 'i', kWorkerId = 'w', kEnd = 'e' };
  struct Piece {
    std::string text;
    Field next = Field::kEnd;  ///< What follows the text.
    int process = 0;           ///< For kWorkerId: which of the host's processes.
  };

  static Json mark(Field field, int process = 0);
  static int mark_worker_ids(Json& pod, const Json& common);

  std::vector<Piece> pieces_;
  int processes_ = 1;  ///< TPU processes of a host.
  std::size_t size_ = 0;
};

}  // namespace tpuslice::raycluster

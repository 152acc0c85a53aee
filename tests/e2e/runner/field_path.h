// FieldPath: a subset of kubectl's JSONPath.
//
//   .spec.containers[0].env[?(@.name=="TPU_WORKER_ID")].value
//   .metadata.labels.ray\.io/cluster
//   .status.conditions[*].type
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::e2e {

class FieldPath {
 public:
  /// Errors: InvalidArgument.
  static Result<FieldPath> parse(std::string_view text);

  /// The values at this path; empty if a part of it is absent.
  [[nodiscard]] std::vector<Json> values(const Json& json) const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  enum class Kind : std::uint8_t { kMember, kIndex, kAll, kFilter };
  struct Part {
    Kind kind = Kind::kMember;
    std::string name = {};  ///< The member; for a filter, the compared member.
    std::size_t index = 0;
    std::string value = {};  ///< The value that a filter requires.
  };

  static Result<Part> parse_member(std::string_view& rest);
  static Result<Part> parse_bracket(std::string_view inside);

  std::string text_;
  std::vector<Part> parts_;
};

}  // namespace tpuslice::e2e

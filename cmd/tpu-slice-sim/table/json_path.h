// JsonPath: the part of JSONPath that CRD printer columns use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/base/result.h"
#include "api/types/json.h"

namespace tpuslice::sim {

/// ".status.conditions[?(@.type=="Ready")].status", ".spec['a.b'].c", ".spec.items[0].name", ".spec.items[*].name".
///
/// Immutable after parse().
class JsonPath {
 public:
  /// Errors: InvalidArgument with the position, for anything else.
  static Result<JsonPath> parse(std::string_view text);

  /// All values at the path, in document order; they point into `json`.
  [[nodiscard]] std::vector<const Json*> find(const Json& json) const;

 private:
  struct Member {
    std::string name;
  };
  struct Index {
    std::int64_t at = 0;  ///< Negative: from the end.
  };
  struct All {};
  struct Filter {
    std::vector<std::string> path;  ///< Path below an element.
    bool exists = false;            ///< No comparison: the path exists.
    std::string op;                 ///< ==, !=, <, <=, >, >=
    Json value;
  };
  using Step = std::variant<Member, Index, All, Filter>;

  static Result<Step> parse_brackets(std::string_view inside);
  static Result<Step> parse_filter(std::string_view condition);
  static bool holds(const Filter& filter, const Json& element);

  std::vector<Step> steps_;
};

}  // namespace tpuslice::sim

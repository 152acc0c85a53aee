// The syntax tree of a CEL expression: what the parser of cel.h makes and its evaluator walks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"
#include "api/types/json.h"

namespace tpuslice::sim::cel {

enum class Op : std::uint8_t {
  kLiteral,   ///< `literal`
  kVariable,  ///< `name`
  kMember,    ///< args[0].name
  kHas,       ///< has(args[0].name)
  kIndex,     ///< args[0][args[1]]
  kList,
  kMap,  ///< Keys and values in turn.
  kNot,
  kNegate,
  kAnd,
  kOr,
  kTernary,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kCall,   ///< Function `name`; the receiver of a method is args[0].
  kMacro,  ///< args[0].name(variable, args[1], ...)
};

struct Node {
  Op op = Op::kLiteral;
  std::string name;
  std::string variable;
  Json literal;
  std::vector<std::unique_ptr<Node>> args;
};
using NodePtr = std::unique_ptr<Node>;

/// Whether the function is known with so many arguments, receiver included, called in this style.
[[nodiscard]] bool known_function(std::string_view name, std::size_t arguments, bool method);

/// Of a kCall with evaluated arguments.
[[nodiscard]] Result<Json> call_function(std::string_view name, const std::vector<const Json*>& args);

/// Operators on two values: comparisons, `in` and arithmetic.
[[nodiscard]] Result<Json> apply_binary(Op op, const Json& left, const Json& right);

/// "int", "string", "map", ... as CEL names types.
[[nodiscard]] std::string_view type_name(const Json& value);

[[nodiscard]] bool valid_regex(const std::string& pattern);

}  // namespace tpuslice::sim::cel

// The syntax tree of a CEL expression, built by the parser and walked by the evaluator.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::sim::cel {

enum class Op : std::uint8_t {
  kLiteral,   ///< `literal`
  kVariable,  ///< `name`
  kMember,    ///< args[0].name
  kHas,       ///< has(args[0].name)
  kIndex,     ///< args[0][args[1]]
  kList,
  kNot,
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
  kModulo,
  kCall,   ///< Function `name`; the receiver of a method is args[0].
  kMacro,  ///< args[0].name(variable, args[1])
};

struct Node {
  Op op = Op::kLiteral;
  std::string name;
  std::string variable;
  Json literal;
  std::vector<std::unique_ptr<Node>> args;
};
using NodePtr = std::unique_ptr<Node>;

}  // namespace tpuslice::sim::cel

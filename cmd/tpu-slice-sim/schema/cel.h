// Cel: the subset of the Common Expression Language that deploy/crds and deploy/webhook use.
//
// String and integer literals, lists, members and indexes; has(); in, == != < <= > >=, && || !, ?:, + - * %; size(),
// string() and matches(); the macros all and exists. Everything else is an error at parse().
//
//   ASSIGN_OR_RETURN(const cel::Expression rule, cel::Expression::parse("self.replicas >= 0", {"self"}));
//   const Result<bool> verdict = rule.holds({{"self", &spec}});
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "api/base/result.h"
#include "api/types/json.h"

namespace tpuslice::sim::cel {

struct Node;

/// Values borrowed for one evaluation.
using Variables = std::map<std::string, const Json*, std::less<>>;

/// An immutable, cheap to copy, parsed expression. Thread-safe.
class Expression {
 public:
  /// Errors: InvalidArgument with the position: syntax, an undeclared variable, or a function outside of the subset.
  static Result<Expression> parse(std::string_view text, const std::set<std::string, std::less<>>& declared);

  /// The value of an expression that must be a boolean.
  ///
  /// Errors: InvalidArgument in CEL's words ("no such key: x"); as in CEL, `false && error` is false and `true ||
  /// error` is true.
  [[nodiscard]] Result<bool> holds(const Variables& variables) const;

  /// Whether the expression reads this variable.
  [[nodiscard]] bool uses(std::string_view variable) const { return used_.contains(variable); }

 private:
  std::shared_ptr<const Node> root_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace tpuslice::sim::cel

// Cel: the part of the Common Expression Language that CRD rules and webhook match conditions are written in.
//
// Literals, lists and maps; members and indexes; has(); in, == != < <= > >=, && || !, ?:, + - * / %; size(); int(),
// string(); startsWith, endsWith, contains, matches; the macros all, exists, exists_one, filter and map. Everything
// else is an error at parse(), so that no rule is ever half understood.
//
//   ASSIGN_OR_RETURN(const cel::Expression rule, cel::Expression::parse("self.replicas >= 0", {"self"}));
//   const Result<Json> verdict = rule.evaluate({{"self", &spec}});
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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

  /// Errors: InvalidArgument in CEL's words ("no such key: x"); as in CEL, `false && error` is false and `true ||
  /// error` is true.
  [[nodiscard]] Result<Json> evaluate(const Variables& variables) const;
  /// The same, for an expression that must be a truth value.
  [[nodiscard]] Result<bool> holds(const Variables& variables) const;

  /// The free variables of the expression.
  [[nodiscard]] const std::set<std::string, std::less<>>& uses() const { return uses_; }
  /// Member chains from a free variable: {"self", "spec", "replicas"}. A chain ends where an index or call begins.
  [[nodiscard]] const std::vector<std::vector<std::string>>& chains() const { return chains_; }

 private:
  std::shared_ptr<const Node> root_;
  std::set<std::string, std::less<>> uses_;
  std::vector<std::vector<std::string>> chains_;
};

}  // namespace tpuslice::sim::cel

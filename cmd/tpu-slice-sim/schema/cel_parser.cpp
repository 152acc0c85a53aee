#include <re2/re2.h>

#include <algorithm>

#include "cmd/tpu-slice-sim/schema/cel.h"
#include "cmd/tpu-slice-sim/schema/cel_ast.h"
#include "cmd/tpu-slice-sim/schema/cel_lexer.h"

namespace tpuslice::sim::cel {
namespace {

constexpr std::size_t kMaxDepth = 100;

NodePtr node(Op op) {
  auto created = std::make_unique<Node>();
  created->op = op;
  return created;
}

NodePtr node(Op op, NodePtr first, NodePtr second = nullptr) {
  NodePtr created = node(op);
  created->args.push_back(std::move(first));
  if (second != nullptr) created->args.push_back(std::move(second));
  return created;
}

class Parser {
 public:
  Parser(std::vector<Token> tokens, const std::set<std::string, std::less<>>& declared)
      : tokens_(std::move(tokens)), declared_(declared) {}

  Result<NodePtr> run() {
    ASSIGN_OR_RETURN(NodePtr root, ternary());
    if (token().type != TokenType::kEnd) return unexpected();
    return root;
  }

  /// Declared variables that the expression reads.
  std::set<std::string, std::less<>> used;

 private:
  using Level = Result<NodePtr> (Parser::*)();
  using Operators = std::initializer_list<std::pair<std::string_view, Op>>;

  [[nodiscard]] const Token& token() const { return tokens_[at_]; }
  [[nodiscard]] bool is(std::string_view text) const {
    return token().type != TokenType::kLiteral && token().type != TokenType::kEnd && token().text == text;
  }
  bool take(std::string_view text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }
  Status expect(std::string_view text) {
    if (take(text)) return {};
    return Error::invalid_argument("syntax error at position {}: expected '{}'", token().position, text);
  }
  [[nodiscard]] Error unexpected() const {
    if (token().type == TokenType::kEnd) {
      return Error::invalid_argument("syntax error at position {}: unexpected end of expression", token().position);
    }
    const std::string what = token().type == TokenType::kLiteral ? token().literal.dump() : token().text;
    return Error::invalid_argument("syntax error at position {}: unexpected '{}'", token().position, what);
  }

  Result<NodePtr> ternary() {
    if (++depth_ > kMaxDepth) return Error::invalid_argument("expression is nested deeper than {} levels", kMaxDepth);
    ASSIGN_OR_RETURN(NodePtr condition, disjunction());
    if (take("?")) {
      ASSIGN_OR_RETURN(NodePtr yes, disjunction());
      RETURN_IF_ERROR(expect(":"));
      ASSIGN_OR_RETURN(NodePtr no, ternary());
      condition = node(Op::kTernary, std::move(condition), std::move(yes));
      condition->args.push_back(std::move(no));
    }
    --depth_;
    return condition;
  }

  Result<NodePtr> binary(Level operand, Operators operators) {
    ASSIGN_OR_RETURN(NodePtr left, (this->*operand)());
    std::size_t length = 0;
    while (true) {
      const auto* found =
          std::find_if(operators.begin(), operators.end(), [this](const auto& each) { return is(each.first); });
      if (found == operators.end()) return left;
      if (++length > kMaxDepth) {
        return Error::invalid_argument("expression has more than {} operators in a row", kMaxDepth);
      }
      ++at_;
      ASSIGN_OR_RETURN(NodePtr right, (this->*operand)());
      left = node(found->second, std::move(left), std::move(right));
    }
  }
  Result<NodePtr> disjunction() { return binary(&Parser::conjunction, {{"||", Op::kOr}}); }
  Result<NodePtr> conjunction() { return binary(&Parser::relation, {{"&&", Op::kAnd}}); }
  Result<NodePtr> relation() {
    return binary(&Parser::sum, {{"==", Op::kEqual},
                                 {"!=", Op::kNotEqual},
                                 {"<", Op::kLess},
                                 {"<=", Op::kLessEqual},
                                 {">", Op::kGreater},
                                 {">=", Op::kGreaterEqual},
                                 {"in", Op::kIn}});
  }
  Result<NodePtr> sum() { return binary(&Parser::product, {{"+", Op::kAdd}, {"-", Op::kSubtract}}); }
  Result<NodePtr> product() { return binary(&Parser::unary, {{"*", Op::kMultiply}, {"%", Op::kModulo}}); }

  Result<NodePtr> unary() {
    if (!take("!")) return postfix();
    if (++depth_ > kMaxDepth) return Error::invalid_argument("expression is nested deeper than {} levels", kMaxDepth);
    ASSIGN_OR_RETURN(NodePtr operand, unary());
    --depth_;
    return node(Op::kNot, std::move(operand));
  }

  Result<NodePtr> postfix() {
    ASSIGN_OR_RETURN(NodePtr value, primary());
    while (true) {
      if (take("[")) {
        ASSIGN_OR_RETURN(NodePtr index, ternary());
        RETURN_IF_ERROR(expect("]"));
        value = node(Op::kIndex, std::move(value), std::move(index));
      } else if (take(".")) {
        if (token().type != TokenType::kName) return unexpected();
        const Token name = token();
        ++at_;
        if (take("(")) {
          ASSIGN_OR_RETURN(value, method(std::move(value), name));
        } else {
          value = node(Op::kMember, std::move(value));
          value->name = name.text;
        }
      } else {
        return value;
      }
    }
  }

  Result<NodePtr> method(NodePtr receiver, const Token& name) {
    if (name.text == "all" || name.text == "exists") return macro(std::move(receiver), name);
    NodePtr call = node(Op::kCall, std::move(receiver));
    call->name = name.text;
    if (name.text == "size") {
      RETURN_IF_ERROR(expect(")"));
      return call;
    }
    if (name.text != "matches") return undeclared(name);
    ASSIGN_OR_RETURN(NodePtr pattern, ternary());
    RETURN_IF_ERROR(expect(")"));
    if (pattern->op == Op::kLiteral &&
        !(pattern->literal.is_string() && RE2(pattern->literal.get<std::string>(), RE2::Quiet).ok())) {
      return Error::invalid_argument("position {}: invalid matches argument {}", name.position,
                                     pattern->literal.dump());
    }
    call->args.push_back(std::move(pattern));
    return call;
  }

  Result<NodePtr> macro(NodePtr range, const Token& name) {
    if (token().type != TokenType::kName) return unexpected();
    NodePtr created = node(Op::kMacro, std::move(range));
    created->name = name.text;
    created->variable = token().text;
    ++at_;
    RETURN_IF_ERROR(expect(","));
    locals_.push_back(created->variable);
    ASSIGN_OR_RETURN(NodePtr body, ternary());
    locals_.pop_back();
    created->args.push_back(std::move(body));
    RETURN_IF_ERROR(expect(")"));
    return created;
  }

  static Error undeclared(const Token& name) {
    return Error::invalid_argument("position {}: undeclared reference to '{}'", name.position, name.text);
  }

  Result<NodePtr> primary() {
    if (token().type == TokenType::kLiteral) {
      NodePtr literal = node(Op::kLiteral);
      literal->literal = token().literal;
      ++at_;
      return literal;
    }
    if (take("(")) {
      ASSIGN_OR_RETURN(NodePtr inner, ternary());
      RETURN_IF_ERROR(expect(")"));
      return inner;
    }
    if (take("[")) return list();
    if (token().type != TokenType::kName) return unexpected();
    const Token name = token();
    ++at_;
    if (name.text == "true" || name.text == "false") {
      NodePtr literal = node(Op::kLiteral);
      literal->literal = name.text == "true";
      return literal;
    }
    if (take("(")) return function(name);
    NodePtr variable = node(Op::kVariable);
    variable->name = name.text;
    if (std::find(locals_.begin(), locals_.end(), name.text) != locals_.end()) return variable;
    if (!declared_.contains(name.text)) return undeclared(name);
    used.insert(name.text);
    return variable;
  }

  /// has(a.b), size(a) or string(a).
  Result<NodePtr> function(const Token& name) {
    if (name.text != "has" && name.text != "size" && name.text != "string") return undeclared(name);
    ASSIGN_OR_RETURN(NodePtr argument, ternary());
    RETURN_IF_ERROR(expect(")"));
    if (name.text == "has") {
      if (argument->op != Op::kMember) {
        return Error::invalid_argument("position {}: invalid argument to has() macro", name.position);
      }
      argument->op = Op::kHas;
      return argument;
    }
    NodePtr call = node(Op::kCall, std::move(argument));
    call->name = name.text;
    return call;
  }

  Result<NodePtr> list() {
    NodePtr created = node(Op::kList);
    while (!take("]")) {
      ASSIGN_OR_RETURN(NodePtr item, ternary());
      created->args.push_back(std::move(item));
      if (!is("]")) RETURN_IF_ERROR(expect(","));
    }
    return created;
  }

  const std::vector<Token> tokens_;
  const std::set<std::string, std::less<>>& declared_;
  std::vector<std::string> locals_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace

Result<Expression> Expression::parse(std::string_view text, const std::set<std::string, std::less<>>& declared) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, tokenize(text));
  Parser parser(std::move(tokens), declared);
  ASSIGN_OR_RETURN(NodePtr root, parser.run());
  Expression expression;
  expression.root_ = std::move(root);
  expression.used_ = std::move(parser.used);
  return expression;
}

}  // namespace tpuslice::sim::cel

#include <algorithm>
#include <array>

#include "api/sim/schema/cel.h"
#include "api/sim/schema/cel_ast.h"
#include "api/sim/schema/cel_lexer.h"

namespace tpuslice::sim::cel {
namespace {

constexpr std::size_t kDeepest = 100;
constexpr std::array<std::string_view, 5> kMacros = {"all", "exists", "exists_one", "filter", "map"};

NodePtr node(Op op) {
  auto made = std::make_unique<Node>();
  made->op = op;
  return made;
}

NodePtr node(Op op, NodePtr first, NodePtr second = nullptr) {
  NodePtr made = node(op);
  made->args.push_back(std::move(first));
  if (second != nullptr) made->args.push_back(std::move(second));
  return made;
}

/// Property names that are no CEL identifiers are written with these escapes.
std::string unescape_property(const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kEscapes = {
      {{"__underscores__", "__"}, {"__dot__", "."}, {"__dash__", "-"}, {"__slash__", "/"}}};
  static const std::set<std::string_view> kReserved = {
      "true", "false",  "null", "in",   "as",      "break",     "const",  "continue", "else", "for",  "function",
      "if",   "import", "let",  "loop", "package", "namespace", "return", "var",      "void", "while"};
  if (name.size() > 4 && name.starts_with("__") && name.ends_with("__") &&
      kReserved.contains(std::string_view(name).substr(2, name.size() - 4))) {
    return name.substr(2, name.size() - 4);
  }
  std::string plain;
  for (std::size_t i = 0; i < name.size();) {
    const std::string_view rest = std::string_view(name).substr(i);
    const auto* escape = std::find_if(kEscapes.begin(), kEscapes.end(),
                                      [&rest](const auto& each) { return rest.starts_with(each.first); });
    plain += escape == kEscapes.end() ? rest.substr(0, 1) : escape->second;
    i += escape == kEscapes.end() ? 1 : escape->first.size();
  }
  return plain;
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
    if (++depth_ > kDeepest) return Error::invalid_argument("expression is nested deeper than {} levels", kDeepest);
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
      if (++length > kDeepest)
        return Error::invalid_argument("expression has more than {} operators in a row", kDeepest);
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
  Result<NodePtr> product() {
    return binary(&Parser::unary, {{"*", Op::kMultiply}, {"/", Op::kDivide}, {"%", Op::kModulo}});
  }

  Result<NodePtr> unary() {
    const Op op = is("!") ? Op::kNot : Op::kNegate;
    if (!take("!") && !take("-")) return postfix();
    if (++depth_ > kDeepest) return Error::invalid_argument("expression is nested deeper than {} levels", kDeepest);
    ASSIGN_OR_RETURN(NodePtr operand, unary());
    --depth_;
    return node(op, std::move(operand));
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
          value->name = unescape_property(name.text);
        }
      } else {
        return value;
      }
    }
  }

  Result<NodePtr> method(NodePtr receiver, const Token& name) {
    if (std::find(kMacros.begin(), kMacros.end(), name.text) != kMacros.end()) return macro(std::move(receiver), name);
    NodePtr call = node(Op::kCall, std::move(receiver));
    return finish_call(std::move(call), name, true);
  }

  Result<NodePtr> macro(NodePtr range, const Token& name) {
    if (token().type != TokenType::kName) return unexpected();
    NodePtr made = node(Op::kMacro, std::move(range));
    made->name = name.text;
    made->variable = token().text;
    ++at_;
    locals_.push_back(made->variable);
    while (take(",")) {
      ASSIGN_OR_RETURN(NodePtr body, ternary());
      made->args.push_back(std::move(body));
    }
    locals_.pop_back();
    RETURN_IF_ERROR(expect(")"));
    if (made->args.size() != 2 && !(name.text == "map" && made->args.size() == 3)) {
      return Error::invalid_argument(
          "syntax error at position {}: {}() has {} arguments, it takes a variable and an expression", name.position,
          name.text, made->args.size());
    }
    return made;
  }

  Result<NodePtr> finish_call(NodePtr call, const Token& name, bool is_method) {
    call->name = name.text;
    if (!is(")")) {
      do {
        ASSIGN_OR_RETURN(NodePtr argument, ternary());
        call->args.push_back(std::move(argument));
      } while (take(","));
    }
    RETURN_IF_ERROR(expect(")"));
    if (!known_function(name.text, call->args.size(), is_method)) {
      return Error::invalid_argument("position {}: undeclared reference to '{}' (with {} arguments)", name.position,
                                     name.text, call->args.size() - (is_method ? 1 : 0));
    }
    if (name.text == "matches" && call->args.back()->op == Op::kLiteral) {
      const Json& pattern = call->args.back()->literal;
      if (!pattern.is_string() || !valid_regex(pattern.get<std::string>())) {
        return Error::invalid_argument("position {}: invalid matches argument {}", name.position, pattern.dump());
      }
    }
    return call;
  }

  Result<NodePtr> primary() {
    if (token().type == TokenType::kLiteral) {
      NodePtr made = node(Op::kLiteral);
      made->literal = token().literal;
      ++at_;
      return made;
    }
    if (take("(")) {
      ASSIGN_OR_RETURN(NodePtr inner, ternary());
      RETURN_IF_ERROR(expect(")"));
      return inner;
    }
    if (take("[")) return list();
    if (take("{")) return map();
    if (token().type != TokenType::kName) return unexpected();
    return named();
  }

  Result<NodePtr> named() {
    const Token name = token();
    ++at_;
    if (name.text == "true" || name.text == "false" || name.text == "null") {
      NodePtr made = node(Op::kLiteral);
      if (name.text != "null") made->literal = name.text == "true";
      return made;
    }
    if (take("(")) return name.text == "has" ? has(name) : finish_call(node(Op::kCall), name, false);
    if (!declared_.contains(name.text) && std::find(locals_.begin(), locals_.end(), name.text) == locals_.end()) {
      return Error::invalid_argument("position {}: undeclared reference to '{}'", name.position, name.text);
    }
    NodePtr made = node(Op::kVariable);
    made->name = name.text;
    return made;
  }

  Result<NodePtr> has(const Token& name) {
    ASSIGN_OR_RETURN(NodePtr argument, ternary());
    RETURN_IF_ERROR(expect(")"));
    if (argument->op != Op::kMember) {
      return Error::invalid_argument("position {}: invalid argument to has() macro", name.position);
    }
    argument->op = Op::kHas;
    return argument;
  }

  Result<NodePtr> list() {
    NodePtr made = node(Op::kList);
    while (!take("]")) {
      ASSIGN_OR_RETURN(NodePtr item, ternary());
      made->args.push_back(std::move(item));
      if (!is("]")) RETURN_IF_ERROR(expect(","));
    }
    return made;
  }

  Result<NodePtr> map() {
    NodePtr made = node(Op::kMap);
    while (!take("}")) {
      ASSIGN_OR_RETURN(NodePtr key, ternary());
      RETURN_IF_ERROR(expect(":"));
      ASSIGN_OR_RETURN(NodePtr value, ternary());
      made->args.push_back(std::move(key));
      made->args.push_back(std::move(value));
      if (!is("}")) RETURN_IF_ERROR(expect(","));
    }
    return made;
  }

  const std::vector<Token> tokens_;
  const std::set<std::string, std::less<>>& declared_;
  std::vector<std::string> locals_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
};

/// Collects what an expression reads from outside.
class References {
 public:
  void walk(const Node& at) {
    if (std::vector<std::string> chain = chain_of(at); !chain.empty()) {
      uses.insert(chain.front());
      chains.push_back(std::move(chain));
      return;
    }
    for (std::size_t i = 0; i < at.args.size(); ++i) {
      const bool local = at.op == Op::kMacro && i > 0;
      if (local) locals_.push_back(at.variable);
      walk(*at.args[i]);
      if (local) locals_.pop_back();
    }
  }

  std::set<std::string, std::less<>> uses;
  std::vector<std::vector<std::string>> chains;

 private:
  [[nodiscard]] std::vector<std::string> chain_of(const Node& at) const {
    if (at.op == Op::kVariable) {
      if (std::find(locals_.begin(), locals_.end(), at.name) != locals_.end()) return {};
      return {at.name};
    }
    if (at.op != Op::kMember && at.op != Op::kHas) return {};
    std::vector<std::string> chain = chain_of(*at.args.front());
    if (!chain.empty()) chain.push_back(at.name);
    return chain;
  }

  std::vector<std::string> locals_;
};

}  // namespace

Result<Expression> Expression::parse(std::string_view text, const std::set<std::string, std::less<>>& declared) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, tokenize(text));
  ASSIGN_OR_RETURN(NodePtr root, Parser(std::move(tokens), declared).run());
  References references;
  references.walk(*root);
  Expression expression;
  expression.root_ = std::move(root);
  expression.uses_ = std::move(references.uses);
  expression.chains_ = std::move(references.chains);
  return expression;
}

}  // namespace tpuslice::sim::cel

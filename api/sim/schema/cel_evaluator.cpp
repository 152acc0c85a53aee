#include "api/sim/schema/cel.h"
#include "api/sim/schema/cel_ast.h"

namespace tpuslice::sim::cel {
namespace {

/// A value that is borrowed where it can be: objects under admission are large, what rules read of them is not.
class Value {
 public:
  explicit Value(const Json* borrowed) : borrowed_(borrowed) {}
  explicit Value(Json owned) : owned_(std::move(owned)) {}

  [[nodiscard]] const Json& get() const { return borrowed_ != nullptr ? *borrowed_ : owned_; }
  [[nodiscard]] bool borrowed() const { return borrowed_ != nullptr; }
  Json take() && { return borrowed_ != nullptr ? *borrowed_ : std::move(owned_); }

 private:
  const Json* borrowed_ = nullptr;
  Json owned_;
};

/// The part `found` of `whole`, which lives as long as the evaluation or must be copied.
Value part_of(const Value& whole, const Json& found) { return whole.borrowed() ? Value(&found) : Value(Json(found)); }

Result<bool> truth(const Result<Value>& value) {
  if (!value) return value.error();
  if (!value->get().is_boolean()) {
    return Error::invalid_argument("no such overload: expected bool, found {}", type_name(value->get()));
  }
  return value->get().get<bool>();
}

class Evaluator {
 public:
  explicit Evaluator(const Variables& variables) : variables_(variables) {}

  Result<Value> run(const Node& node) {
    switch (node.op) {
      case Op::kLiteral:
        return Value(&node.literal);
      case Op::kVariable:
        return variable(node.name);
      case Op::kMember:
      case Op::kHas:
        return member(node);
      case Op::kIndex:
        return index(node);
      case Op::kList:
      case Op::kMap:
        return container(node);
      case Op::kNot:
      case Op::kNegate:
        return unary(node);
      case Op::kAnd:
        return connective(node, false);
      case Op::kOr:
        return connective(node, true);
      case Op::kTernary: {
        ASSIGN_OR_RETURN(const bool condition, truth(run(*node.args[0])));
        return run(*node.args[condition ? 1 : 2]);
      }
      case Op::kCall:
        return call(node);
      case Op::kMacro:
        return macro(node);
      default:
        return binary(node);
    }
  }

 private:
  Result<Value> variable(const std::string& name) {
    for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
      if (local->first == name) return Value(local->second);
    }
    const auto found = variables_.find(name);
    if (found == variables_.end() || found->second == nullptr) {
      return Error::invalid_argument("no such attribute: {}", name);
    }
    return Value(found->second);
  }

  Result<Value> member(const Node& node) {
    ASSIGN_OR_RETURN(const Value of, run(*node.args.front()));
    if (!of.get().is_object()) {
      return Error::invalid_argument("no such overload: {} has no member '{}'", type_name(of.get()), node.name);
    }
    const auto found = of.get().find(node.name);
    if (node.op == Op::kHas) return Value(Json(found != of.get().end()));
    if (found == of.get().end()) return Error::invalid_argument("no such key: {}", node.name);
    return part_of(of, *found);
  }

  Result<Value> index(const Node& node) {
    ASSIGN_OR_RETURN(const Value of, run(*node.args[0]));
    ASSIGN_OR_RETURN(const Value key, run(*node.args[1]));
    const Json& at = key.get();
    if (of.get().is_object() && at.is_string()) {
      const auto found = of.get().find(at.get_ref<const std::string&>());
      if (found == of.get().end()) return Error::invalid_argument("no such key: {}", at.get_ref<const std::string&>());
      return part_of(of, *found);
    }
    if (!of.get().is_array() || !at.is_number_integer()) {
      return Error::invalid_argument("no such overload: {}[{}]", type_name(of.get()), type_name(at));
    }
    const auto position = at.get<std::int64_t>();
    if (position < 0 || position >= static_cast<std::int64_t>(of.get().size())) {
      return Error::invalid_argument("index out of bounds: {}", position);
    }
    return part_of(of, of.get()[static_cast<std::size_t>(position)]);
  }

  Result<Value> container(const Node& node) {
    Json made = node.op == Op::kList ? Json::array() : Json::object();
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      ASSIGN_OR_RETURN(Value item, run(*node.args[i]));
      if (node.op == Op::kList) {
        made.push_back(std::move(item).take());
        continue;
      }
      if (!item.get().is_string()) {
        return Error::invalid_argument("unsupported key type: {}", type_name(item.get()));
      }
      ASSIGN_OR_RETURN(Value value, run(*node.args[++i]));
      made[item.get().get_ref<const std::string&>()] = std::move(value).take();
    }
    return Value(std::move(made));
  }

  Result<Value> unary(const Node& node) {
    if (node.op == Op::kNot) {
      ASSIGN_OR_RETURN(const bool operand, truth(run(*node.args.front())));
      return Value(Json(!operand));
    }
    ASSIGN_OR_RETURN(const Value operand, run(*node.args.front()));
    if (!operand.get().is_number()) {
      return Error::invalid_argument("no such overload: -{}", type_name(operand.get()));
    }
    if (operand.get().is_number_float()) return Value(Json(-operand.get().get<double>()));
    ASSIGN_OR_RETURN(Json negated, apply_binary(Op::kSubtract, Json(0), operand.get()));
    return Value(std::move(negated));
  }

  /// Either side decides alone if it can, even where the other one fails.
  Result<Value> connective(const Node& node, bool decisive) {
    const Result<bool> left = truth(run(*node.args[0]));
    if (left && *left == decisive) return Value(Json(decisive));
    const Result<bool> right = truth(run(*node.args[1]));
    if (right && *right == decisive) return Value(Json(decisive));
    if (!left) return left.error();
    if (!right) return right.error();
    return Value(Json(!decisive));
  }

  Result<Value> binary(const Node& node) {
    ASSIGN_OR_RETURN(const Value left, run(*node.args[0]));
    ASSIGN_OR_RETURN(const Value right, run(*node.args[1]));
    ASSIGN_OR_RETURN(Json result, apply_binary(node.op, left.get(), right.get()));
    return Value(std::move(result));
  }

  Result<Value> call(const Node& node) {
    std::vector<Value> values;
    values.reserve(node.args.size());
    for (const NodePtr& each : node.args) {
      ASSIGN_OR_RETURN(Value value, run(*each));
      values.push_back(std::move(value));
    }
    std::vector<const Json*> arguments;
    for (const Value& value : values) arguments.push_back(&value.get());
    ASSIGN_OR_RETURN(Json result, call_function(node.name, arguments));
    return Value(std::move(result));
  }

  Result<Value> macro(const Node& node) {
    ASSIGN_OR_RETURN(const Value range, run(*node.args.front()));
    Json keys = Json::array();
    if (range.get().is_object()) {
      for (const auto& [key, value] : range.get().items()) keys.push_back(key);
    } else if (!range.get().is_array()) {
      return Error::invalid_argument("no such overload: {}() on {}", node.name, type_name(range.get()));
    }
    const Json& items = range.get().is_object() ? keys : range.get();
    if (node.name == "all" || node.name == "exists") return quantify(node, items);
    return collect(node, items);
  }

  Result<Value> with_item(const Node& node, const Json& item, std::size_t argument) {
    locals_.emplace_back(node.variable, &item);
    Result<Value> value = run(*node.args[argument]);
    locals_.pop_back();
    return value;
  }

  Result<Value> quantify(const Node& node, const Json& items) {
    const bool decisive = node.name == "exists";
    std::optional<Error> failed;
    for (const Json& item : items) {
      const Result<bool> holds = truth(with_item(node, item, 1));
      if (holds && *holds == decisive) return Value(Json(decisive));
      if (!holds && !failed) failed = holds.error();
    }
    if (failed) return *failed;
    return Value(Json(!decisive));
  }

  /// exists_one, filter and map, with or without its own filter.
  Result<Value> collect(const Node& node, const Json& items) {
    Json chosen = Json::array();
    const bool filters = node.name != "map" || node.args.size() == 3;
    for (const Json& item : items) {
      if (filters) {
        ASSIGN_OR_RETURN(const bool keep, truth(with_item(node, item, 1)));
        if (!keep) continue;
      }
      if (node.name == "map") {
        ASSIGN_OR_RETURN(Value mapped, with_item(node, item, node.args.size() - 1));
        chosen.push_back(std::move(mapped).take());
      } else {
        chosen.push_back(item);
      }
    }
    if (node.name == "exists_one") return Value(Json(chosen.size() == 1));
    return Value(std::move(chosen));
  }

  const Variables& variables_;
  std::vector<std::pair<std::string, const Json*>> locals_;
};

}  // namespace

Result<Json> Expression::evaluate(const Variables& variables) const {
  ASSIGN_OR_RETURN(Value value, Evaluator(variables).run(*root_));
  return std::move(value).take();
}

Result<bool> Expression::holds(const Variables& variables) const { return truth(Evaluator(variables).run(*root_)); }

}  // namespace tpuslice::sim::cel

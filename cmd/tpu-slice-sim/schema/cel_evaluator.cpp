#include <re2/re2.h>

#include <ranges>

#include "api/types/utf8.h"
#include "cmd/tpu-slice-sim/schema/cel.h"
#include "cmd/tpu-slice-sim/schema/cel_ast.h"

namespace tpuslice::sim::cel {
namespace {

/// A value that is borrowed where possible: rules read little of the large objects under admission.
class Value {
 public:
  explicit Value(const Json* borrowed) : borrowed_(borrowed) {}
  explicit Value(Json owned) : owned_(std::move(owned)) {}

  [[nodiscard]] const Json& get() const { return borrowed_ != nullptr ? *borrowed_ : owned_; }
  [[nodiscard]] bool borrowed() const { return borrowed_ != nullptr; }
  Json take() && {
    if (borrowed_ != nullptr) return *borrowed_;
    return std::move(owned_);
  }

 private:
  const Json* borrowed_ = nullptr;
  Json owned_;
};

/// The part `found` of `whole`: borrowed if `whole` is, else copied.
Value part_of(const Value& whole, const Json& found) { return whole.borrowed() ? Value(&found) : Value(Json(found)); }

/// The name of the value's type in CEL: "int", "string", "map", ...
std::string_view type_name(const Json& value) {
  if (value.is_null()) return "null_type";
  if (value.is_boolean()) return "bool";
  if (value.is_string()) return "string";
  if (value.is_array()) return "list";
  if (value.is_object()) return "map";
  return value.is_number_float() ? "double" : "int";
}

Error no_overload(std::string_view what) { return Error::invalid_argument("no such overload: {}", what); }

Result<bool> truth(const Result<Value>& value) {
  if (!value) return value.error();
  if (!value->get().is_boolean()) return no_overload(fmt::format("expected bool, found {}", type_name(value->get())));
  return value->get().get<bool>();
}

Result<Json> compare(Op op, const Json& left, const Json& right) {
  const bool same = (left.is_number() && right.is_number()) || (left.is_string() && right.is_string());
  if (!same) return no_overload(fmt::format("{} compared with {}", type_name(left), type_name(right)));
  if (op == Op::kLess) return Json(left < right);
  if (op == Op::kLessEqual) return Json(!(right < left));
  if (op == Op::kGreater) return Json(right < left);
  return Json(!(left < right));
}

Result<Json> contains(const Json& value, const Json& container) {
  if (container.is_object()) {
    return Json(value.is_string() && container.contains(value.get_ref<const std::string&>()));
  }
  if (!container.is_array()) return no_overload(fmt::format("in {}", type_name(container)));
  return Json(std::find(container.begin(), container.end(), value) != container.end());
}

Result<Json> arithmetic(Op op, const Json& left, const Json& right) {
  if (op == Op::kAdd && left.is_array() && right.is_array()) {
    Json joined = left;
    joined.insert(joined.end(), right.begin(), right.end());
    return joined;
  }
  if (!left.is_number_integer() || !right.is_number_integer()) {
    return no_overload(fmt::format("arithmetic on {} and {}", type_name(left), type_name(right)));
  }
  const auto a = left.get<std::int64_t>();
  const auto b = right.get<std::int64_t>();
  std::int64_t result = 0;
  bool overflow = false;
  if (op == Op::kAdd) overflow = __builtin_add_overflow(a, b, &result);
  if (op == Op::kSubtract) overflow = __builtin_sub_overflow(a, b, &result);
  if (op == Op::kMultiply) overflow = __builtin_mul_overflow(a, b, &result);
  if (op == Op::kModulo) {
    if (b == 0) return Error::invalid_argument("modulus by zero");
    result = b == -1 ? 0 : a % b;
  }
  if (overflow) return Error::invalid_argument("integer overflow");
  return Json(result);
}

Result<Json> binary_operator(Op op, const Json& left, const Json& right) {
  switch (op) {
    case Op::kEqual:
      return Json(left == right);
    case Op::kNotEqual:
      return Json(left != right);
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kGreater:
    case Op::kGreaterEqual:
      return compare(op, left, right);
    case Op::kIn:
      return contains(left, right);
    default:
      return arithmetic(op, left, right);
  }
}

Result<Json> matches(const Json& text, const Json& pattern) {
  if (!text.is_string() || !pattern.is_string()) {
    return no_overload(fmt::format("matches() on {} and {}", type_name(text), type_name(pattern)));
  }
  const RE2 compiled(pattern.get_ref<const std::string&>(), RE2::Quiet);
  if (!compiled.ok()) return Error::invalid_argument("error parsing regexp: {}", compiled.error());
  return Json(RE2::PartialMatch(text.get_ref<const std::string&>(), compiled));
}

Result<Json> size_of(const Json& value) {
  if (value.is_string()) return Json(static_cast<std::int64_t>(utf8_length(value.get_ref<const std::string&>())));
  if (value.is_structured()) return Json(static_cast<std::int64_t>(value.size()));
  return no_overload(fmt::format("size({})", type_name(value)));
}

Result<Json> to_text(const Json& value) {
  if (value.is_string()) return value;
  if (value.is_number() || value.is_boolean()) return Json(value.dump());
  return no_overload(fmt::format("string({})", type_name(value)));
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
        return list(node);
      case Op::kNot: {
        ASSIGN_OR_RETURN(const bool operand, truth(run(*node.args.front())));
        return Value(Json(!operand));
      }
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
    for (const auto& [local, value] : std::ranges::reverse_view(locals_)) {
      if (local == name) return Value(value);
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
      return no_overload(fmt::format("{} has no member '{}'", type_name(of.get()), node.name));
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
      return no_overload(fmt::format("{}[{}]", type_name(of.get()), type_name(at)));
    }
    const auto position = at.get<std::int64_t>();
    if (position < 0 || position >= static_cast<std::int64_t>(of.get().size())) {
      return Error::invalid_argument("index out of bounds: {}", position);
    }
    return part_of(of, of.get()[static_cast<std::size_t>(position)]);
  }

  Result<Value> list(const Node& node) {
    Json items = Json::array();
    for (const NodePtr& each : node.args) {
      ASSIGN_OR_RETURN(Value item, run(*each));
      items.push_back(std::move(item).take());
    }
    return Value(std::move(items));
  }

  /// Either side decides alone if it can, even if the other side fails.
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
    ASSIGN_OR_RETURN(Json result, binary_operator(node.op, left.get(), right.get()));
    return Value(std::move(result));
  }

  Result<Value> call(const Node& node) {
    ASSIGN_OR_RETURN(const Value first, run(*node.args[0]));
    Result<Json> result = node.name == "size" ? size_of(first.get()) : to_text(first.get());
    if (node.name == "matches") {
      ASSIGN_OR_RETURN(const Value pattern, run(*node.args[1]));
      result = matches(first.get(), pattern.get());
    }
    if (!result) return result.error();
    return Value(*std::move(result));
  }

  Result<Value> macro(const Node& node) {
    ASSIGN_OR_RETURN(const Value range, run(*node.args.front()));
    Json keys = Json::array();
    if (range.get().is_object()) {
      for (const auto& [key, value] : range.get().items()) keys.push_back(key);
    } else if (!range.get().is_array()) {
      return no_overload(fmt::format("{}() on {}", node.name, type_name(range.get())));
    }
    const bool decisive = node.name == "exists";
    std::optional<Error> failed;
    for (const Json& item : range.get().is_object() ? keys : range.get()) {
      locals_.emplace_back(node.variable, &item);
      const Result<bool> holds = truth(run(*node.args[1]));
      locals_.pop_back();
      if (holds && *holds == decisive) return Value(Json(decisive));
      if (!holds && !failed) failed = holds.error();
    }
    if (failed) return *failed;
    return Value(Json(!decisive));
  }

  const Variables& variables_;
  std::vector<std::pair<std::string, const Json*>> locals_;
};

}  // namespace

Result<bool> Expression::holds(const Variables& variables) const { return truth(Evaluator(variables).run(*root_)); }

}  // namespace tpuslice::sim::cel

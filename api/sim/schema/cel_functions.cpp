#include <re2/re2.h>

#include <array>
#include <charconv>
#include <limits>

#include "api/sim/schema/cel_ast.h"

namespace tpuslice::sim::cel {
namespace {

struct Function {
  std::string_view name;
  std::size_t arguments;  ///< With the receiver.
  bool method;
  bool plain;
};

constexpr std::array kFunctions = {
    Function{"size", 1, true, true},        Function{"startsWith", 2, true, false},
    Function{"endsWith", 2, true, false},   Function{"contains", 2, true, false},
    Function{"matches", 2, true, true},     Function{"int", 1, false, true},
    Function{"string", 1, false, true},     Function{"double", 1, false, true},
    Function{"lowerAscii", 1, true, false}, Function{"upperAscii", 1, true, false},
};

Error no_overload(std::string_view what) { return Error::invalid_argument("no such overload: {}", what); }

bool is_whole(const Json& value) { return value.is_number_integer(); }

Result<std::int64_t> whole(const Json& value) {
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return Error::invalid_argument("integer overflow");
  }
  return value.get<std::int64_t>();
}

/// In Unicode code points, as CEL counts.
std::int64_t string_size(const std::string& text) {
  std::int64_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

Result<Json> size_of(const Json& value) {
  if (value.is_string()) return Json(string_size(value.get_ref<const std::string&>()));
  if (value.is_array() || value.is_object()) return Json(static_cast<std::int64_t>(value.size()));
  return no_overload(std::string("size(") + std::string(type_name(value)) + ")");
}

Result<Json> to_whole(const Json& value) {
  if (is_whole(value)) return value;
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (!(number > -9.2e18 && number < 9.2e18)) return Error::invalid_argument("integer overflow");
    return Json(static_cast<std::int64_t>(number));
  }
  if (!value.is_string()) return no_overload(std::string("int(") + std::string(type_name(value)) + ")");
  const auto& text = value.get_ref<const std::string&>();
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) {
    return Error::invalid_argument("type conversion error from 'string' to 'int': \"{}\"", text);
  }
  return Json(number);
}

Result<Json> to_double(const Json& value) {
  if (value.is_number()) return Json(value.get<double>());
  if (!value.is_string()) return no_overload(std::string("double(") + std::string(type_name(value)) + ")");
  const auto& text = value.get_ref<const std::string&>();
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) {
    return Error::invalid_argument("type conversion error from 'string' to 'double': \"{}\"", text);
  }
  return Json(number);
}

Result<Json> to_text(const Json& value) {
  if (value.is_string()) return value;
  if (value.is_number() || value.is_boolean()) return Json(value.dump());
  return no_overload(std::string("string(") + std::string(type_name(value)) + ")");
}

std::string with_case(std::string text, bool upper) {
  for (char& c : text) {
    if (upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (!upper && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

Result<Json> on_strings(std::string_view name, const std::string& text, const std::string& argument) {
  if (name == "startsWith") return Json(text.starts_with(argument));
  if (name == "endsWith") return Json(text.ends_with(argument));
  if (name == "contains") return Json(text.find(argument) != std::string::npos);
  const RE2 pattern(argument, RE2::Quiet);
  if (!pattern.ok()) return Error::invalid_argument("error parsing regexp: {}", pattern.error());
  return Json(RE2::PartialMatch(text, pattern));
}

Result<Json> compare(Op op, const Json& left, const Json& right) {
  const bool same = (left.is_number() && right.is_number()) || (left.is_string() && right.is_string()) ||
                    (left.is_boolean() && right.is_boolean());
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
  if (!container.is_array()) return no_overload(std::string("in ") + std::string(type_name(container)));
  for (const Json& each : container) {
    if (each == value) return Json(true);
  }
  return Json(false);
}

Result<Json> whole_arithmetic(Op op, const Json& left, const Json& right) {
  ASSIGN_OR_RETURN(const std::int64_t a, whole(left));
  ASSIGN_OR_RETURN(const std::int64_t b, whole(right));
  std::int64_t result = 0;
  bool overflow = false;
  if (op == Op::kAdd) {
    overflow = __builtin_add_overflow(a, b, &result);
  } else if (op == Op::kSubtract) {
    overflow = __builtin_sub_overflow(a, b, &result);
  } else if (op == Op::kMultiply) {
    overflow = __builtin_mul_overflow(a, b, &result);
  } else {
    if (b == 0) return Error::invalid_argument("{} by zero", op == Op::kDivide ? "division" : "modulus");
    overflow = a == std::numeric_limits<std::int64_t>::min() && b == -1;
    if (!overflow) result = op == Op::kDivide ? a / b : a % b;
  }
  if (overflow) return Error::invalid_argument("integer overflow");
  return Json(result);
}

Result<Json> arithmetic(Op op, const Json& left, const Json& right) {
  if (is_whole(left) && is_whole(right)) return whole_arithmetic(op, left, right);
  if (left.is_number() && right.is_number() && op != Op::kModulo) {
    const double a = left.get<double>();
    const double b = right.get<double>();
    if (op == Op::kAdd) return Json(a + b);
    if (op == Op::kSubtract) return Json(a - b);
    return Json(op == Op::kMultiply ? a * b : a / b);
  }
  if (op == Op::kAdd && left.is_string() && right.is_string()) {
    return Json(left.get_ref<const std::string&>() + right.get_ref<const std::string&>());
  }
  if (op == Op::kAdd && left.is_array() && right.is_array()) {
    Json joined = left;
    joined.insert(joined.end(), right.begin(), right.end());
    return joined;
  }
  return no_overload(fmt::format("arithmetic on {} and {}", type_name(left), type_name(right)));
}

}  // namespace

bool known_function(std::string_view name, std::size_t arguments, bool method) {
  for (const Function& each : kFunctions) {
    if (each.name == name && each.arguments == arguments && (method ? each.method : each.plain)) return true;
  }
  return false;
}

Result<Json> call_function(std::string_view name, const std::vector<const Json*>& args) {
  const Json& first = *args.front();
  if (name == "size") return size_of(first);
  if (name == "int") return to_whole(first);
  if (name == "double") return to_double(first);
  if (name == "string") return to_text(first);
  for (const Json* each : args) {
    if (!each->is_string()) return no_overload(fmt::format("{}() on {}", name, type_name(*each)));
  }
  const auto& text = first.get_ref<const std::string&>();
  if (name == "lowerAscii" || name == "upperAscii") return Json(with_case(text, name == "upperAscii"));
  return on_strings(name, text, args[1]->get_ref<const std::string&>());
}

Result<Json> apply_binary(Op op, const Json& left, const Json& right) {
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

std::string_view type_name(const Json& value) {
  if (value.is_null()) return "null_type";
  if (value.is_boolean()) return "bool";
  if (value.is_string()) return "string";
  if (value.is_array()) return "list";
  if (value.is_object()) return "map";
  return value.is_number_float() ? "double" : "int";
}

bool valid_regex(const std::string& pattern) { return RE2(pattern, RE2::Quiet).ok(); }

}  // namespace tpuslice::sim::cel

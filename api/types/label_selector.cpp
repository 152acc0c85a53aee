#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "api/types/selector.h"
#include "api/types/validation_names.h"

namespace tpuslice {
namespace {

std::optional<std::int64_t> parse_int64(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return parse_integer<std::int64_t>(text);
}

std::string_view name_of(SelectorOperator op) {
  static constexpr std::array<std::string_view, 6> kNames = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
  return kNames.at(static_cast<std::size_t>(op));
}

/// Sorts the values. Errors: what the API server would not accept.
Result<Requirement> checked(Requirement requirement) {
  RETURN_IF_ERROR(first_error("key", requirement.key, check_label_key(requirement.key)));
  auto& values = requirement.values;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  const auto fail = [&](std::string_view rule) {
    return Error::invalid_argument("values of \"{}\": {} has {} values, {}", requirement.key, name_of(requirement.op),
                                   values.size(), rule);
  };
  switch (requirement.op) {
    case SelectorOperator::kIn:
    case SelectorOperator::kNotIn:
      if (values.empty()) return fail("must have at least one");
      break;
    case SelectorOperator::kExists:
    case SelectorOperator::kDoesNotExist:
      if (!values.empty()) return fail("must have none");
      break;
    case SelectorOperator::kGt:
    case SelectorOperator::kLt:
      if (values.size() != 1) return fail("must have exactly one");
      if (!parse_int64(values.front())) {
        return Error::invalid_argument("value of \"{}\": \"{}\" is not an integer, as {} needs", requirement.key,
                                       values.front(), name_of(requirement.op));
      }
      break;
  }
  for (const std::string& value : values) {
    RETURN_IF_ERROR(first_error("value of \"" + requirement.key + "\"", value, check_label_value(value)));
  }
  return requirement;
}

/// Reads the string form. Keys and values are runs of anything but spaces and the signs of the grammar.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<Requirement>> parse() {
    std::vector<Requirement> requirements;
    if (peek() == '\0') return requirements;
    do {
      ASSIGN_OR_RETURN(Requirement requirement, parse_requirement());
      Result<Requirement> valid = checked(std::move(requirement));
      if (!valid) return at(valid.error().message());
      requirements.push_back(*std::move(valid));
    } while (take(","));
    if (peek() != '\0') return unexpected("',' or the end");
    return requirements;
  }

 private:
  Result<Requirement> parse_requirement() {
    Requirement requirement;
    if (take("!")) {
      requirement.op = SelectorOperator::kDoesNotExist;
      requirement.key = word();
      if (requirement.key.empty()) return unexpected("a label key");
      return requirement;
    }
    requirement.key = word();
    if (requirement.key.empty()) return unexpected("a label key");
    if (peek() == ',' || peek() == '\0') return requirement;
    if (take("==") || take("=")) return with_value(std::move(requirement), SelectorOperator::kIn);
    if (take("!=")) return with_value(std::move(requirement), SelectorOperator::kNotIn);
    if (take(">")) return with_value(std::move(requirement), SelectorOperator::kGt);
    if (take("<")) return with_value(std::move(requirement), SelectorOperator::kLt);
    const std::size_t before = position_;
    const std::string keyword = word();
    if (keyword == "in") return with_set(std::move(requirement), SelectorOperator::kIn);
    if (keyword == "notin") return with_set(std::move(requirement), SelectorOperator::kNotIn);
    position_ = before;
    return unexpected("'=', '!=', '>', '<', 'in', 'notin', ',' or the end");
  }

  Result<Requirement> with_value(Requirement requirement, SelectorOperator op) {
    requirement.op = op;
    requirement.values = {word()};
    return requirement;
  }

  Result<Requirement> with_set(Requirement requirement, SelectorOperator op) {
    requirement.op = op;
    if (!take("(")) return unexpected("'('");
    do {  // "()" is the set of the empty value, as in Kubernetes.
      requirement.values.push_back(word());
    } while (take(","));
    if (!take(")")) return unexpected("',' or ')'");
    return requirement;
  }

  void skip_spaces() {
    while (position_ < text_.size() && std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos) {
      ++position_;
    }
  }
  /// '\0' at the end, and for a NUL, which no rule accepts either.
  char peek() {
    skip_spaces();
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool take(std::string_view sign) {
    skip_spaces();
    if (!text_.substr(position_).starts_with(sign)) return false;
    position_ += sign.size();
    return true;
  }
  std::string word() {
    skip_spaces();
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n,()=!<>", position_), text_.size());
    std::string found(text_.substr(position_, end - position_));
    position_ = end;
    return found;
  }
  Error unexpected(std::string_view wanted) {
    const char found = peek();
    if (position_ >= text_.size()) return at(fmt::format("ends where {} was expected", wanted));
    return at(fmt::format("found '{}' where {} was expected", found, wanted));
  }
  Error at(std::string_view message) const {
    return Error::invalid_argument("label selector \"{}\", position {}: {}", text_, position_, message);
  }

  const std::string_view text_;
  std::size_t position_ = 0;
};

std::optional<SelectorOperator> operator_of(std::string_view name, bool ordered) {
  using Op = SelectorOperator;
  for (const auto op : {Op::kIn, Op::kNotIn, Op::kExists, Op::kDoesNotExist, Op::kGt, Op::kLt}) {
    if (name == name_of(op)) return ordered || op < Op::kGt ? std::optional(op) : std::nullopt;
  }
  return std::nullopt;
}

Result<Requirement> parse_expression(const Json& json, bool ordered) {
  if (!json.is_object()) return Error::invalid_argument("is a JSON {}, must be an object", json.type_name());
  Requirement requirement;
  requirement.key = string_at(json, {"key"});
  const std::string op = string_at(json, {"operator"});
  const auto known = operator_of(op, ordered);
  if (!known) {
    return Error::invalid_argument("operator is \"{}\", must be In, NotIn, Exists{} DoesNotExist{}", op,
                                   ordered ? "," : " or", ordered ? ", Gt or Lt" : "");
  }
  requirement.op = *known;
  if (const Json* values = find_path(json, {"values"}); values != nullptr && !values->is_null()) {
    if (!values->is_array())
      return Error::invalid_argument("values is a JSON {}, must be an array", values->type_name());
    for (const Json& value : *values) {
      if (!value.is_string()) return Error::invalid_argument("values has {}, must have strings only", value.dump());
      requirement.values.push_back(value.get<std::string>());
    }
  }
  return checked(std::move(requirement));
}

Result<std::vector<Requirement>> parse_expressions(const Json& json, bool ordered) {
  std::vector<Requirement> requirements;
  if (json.is_null()) return requirements;
  if (!json.is_array())
    return Error::invalid_argument("matchExpressions is a JSON {}, must be an array", json.type_name());
  for (const Json& item : json) {
    Result<Requirement> requirement = parse_expression(item, ordered);
    if (!requirement) return requirement.error().within(fmt::format("matchExpressions[{}]", requirements.size()));
    requirements.push_back(*std::move(requirement));
  }
  return requirements;
}

std::string print(const Requirement& requirement) {
  const auto set = [&] { return fmt::format("({})", fmt::join(requirement.values, ",")); };
  switch (requirement.op) {
    case SelectorOperator::kIn:
      return requirement.values.size() == 1 ? requirement.key + "=" + requirement.values.front()
                                            : requirement.key + " in " + set();
    case SelectorOperator::kNotIn:
      return requirement.values.size() == 1 ? requirement.key + "!=" + requirement.values.front()
                                            : requirement.key + " notin " + set();
    case SelectorOperator::kExists:
      return requirement.key;
    case SelectorOperator::kDoesNotExist:
      return "!" + requirement.key;
    case SelectorOperator::kGt:
      return requirement.key + ">" + requirement.values.front();
    case SelectorOperator::kLt:
      return requirement.key + "<" + requirement.values.front();
  }
  return {};
}

}  // namespace

bool Requirement::matches(const StringMap& labels) const {
  const auto label = labels.find(key);
  const bool present = label != labels.end();
  const auto listed = [&] { return std::find(values.begin(), values.end(), label->second) != values.end(); };
  switch (op) {
    case SelectorOperator::kIn:
      return present && listed();
    case SelectorOperator::kNotIn:
      return !present || !listed();
    case SelectorOperator::kExists:
      return present;
    case SelectorOperator::kDoesNotExist:
      return !present;
    case SelectorOperator::kGt:
    case SelectorOperator::kLt: {
      if (!present || values.empty()) return false;
      const auto number = parse_int64(label->second);
      const auto bound = parse_int64(values.front());
      return number && bound && (op == SelectorOperator::kGt ? *number > *bound : *number < *bound);
    }
  }
  return false;
}

LabelSelector::LabelSelector(std::vector<Requirement> requirements) : requirements_(std::move(requirements)) {
  std::stable_sort(requirements_.begin(), requirements_.end(),
                   [](const Requirement& a, const Requirement& b) { return a.key < b.key; });
}

LabelSelector LabelSelector::nothing() {
  LabelSelector selector;
  selector.nothing_ = true;
  return selector;
}

LabelSelector LabelSelector::of(const StringMap& labels) {
  std::vector<Requirement> requirements;
  requirements.reserve(labels.size());
  for (const auto& [key, value] : labels) requirements.push_back({key, SelectorOperator::kIn, {value}});
  return LabelSelector(std::move(requirements));
}

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<Requirement> requirements, Parser(text).parse());
  return LabelSelector(std::move(requirements));
}

Result<LabelSelector> LabelSelector::from_json(const Json& selector) {
  if (selector.is_null()) return nothing();
  if (!selector.is_object()) {
    return Error::invalid_argument("label selector is a JSON {}, must be an object", selector.type_name());
  }
  std::vector<Requirement> requirements;
  for (const auto& [name, value] : selector.items()) {
    if (name == "matchExpressions") {
      ASSIGN_OR_RETURN(std::vector<Requirement> parsed, parse_expressions(value, false));
      std::move(parsed.begin(), parsed.end(), std::back_inserter(requirements));
    } else if (name == "matchLabels") {
      if (value.is_null()) continue;
      if (!value.is_object()) {
        return Error::invalid_argument("matchLabels is a JSON {}, must be an object", value.type_name());
      }
      for (const auto& [key, label] : value.items()) {
        if (!label.is_string()) {
          return Error::invalid_argument("matchLabels[{}] is {}, must be a string", key, label.dump());
        }
        Result<Requirement> requirement = checked({key, SelectorOperator::kIn, {label.get<std::string>()}});
        if (!requirement) return requirement.error().within("matchLabels");
        requirements.push_back(*std::move(requirement));
      }
    } else {
      return Error::invalid_argument("label selector has \"{}\", must have only matchLabels and matchExpressions",
                                     name);
    }
  }
  return LabelSelector(std::move(requirements));
}

Result<LabelSelector> LabelSelector::from_node_expressions(const Json& expressions) {
  ASSIGN_OR_RETURN(std::vector<Requirement> requirements, parse_expressions(expressions, true));
  return LabelSelector(std::move(requirements));
}

bool LabelSelector::matches(const StringMap& labels) const {
  return !nothing_ && std::all_of(requirements_.begin(), requirements_.end(),
                                  [&](const Requirement& requirement) { return requirement.matches(labels); });
}

LabelSelector LabelSelector::without(const Requirement& requirement) const {
  LabelSelector rest = *this;
  std::erase(rest.requirements_, requirement);
  return rest;
}

std::optional<LabelSelector> LabelSelector::opposite() const {
  using Op = SelectorOperator;
  if (requirements_.size() != 1) return std::nullopt;
  Requirement requirement = requirements_.front();
  switch (requirement.op) {
    case Op::kIn:
      requirement.op = Op::kNotIn;
      break;
    case Op::kNotIn:
      requirement.op = Op::kIn;
      break;
    case Op::kExists:
      requirement.op = Op::kDoesNotExist;
      break;
    case Op::kDoesNotExist:
      requirement.op = Op::kExists;
      break;
    case Op::kGt:
    case Op::kLt:
      return std::nullopt;
  }
  return LabelSelector({std::move(requirement)});
}

std::string LabelSelector::to_string() const {
  std::string text;
  for (const Requirement& requirement : requirements_) {
    if (!text.empty()) text += ',';
    text += print(requirement);
  }
  return text;
}

}  // namespace tpuslice

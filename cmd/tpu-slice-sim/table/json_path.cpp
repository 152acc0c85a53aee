#include "cmd/tpu-slice-sim/table/json_path.h"

#include <array>

#include "api/base/strings.h"

namespace tpuslice::sim {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool quoted(std::string_view text) {
  return text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front();
}

/// A literal of a filter: a quoted string or a JSON value.
Result<Json> literal(std::string_view text) {
  text = trim(text);
  if (quoted(text)) return Json(std::string(text.substr(1, text.size() - 2)));
  Result<Json> parsed = parse_json(text);
  if (!parsed) return Error::invalid_argument("unrecognized value \"{}\" in filter", text);
  return parsed;
}

/// Splits "a.b.c", with "\." for a dot in a name.
std::vector<std::string> names_of(std::string_view path) {
  std::vector<std::string> names;
  std::string name;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '\\' && i + 1 < path.size()) {
      name += path[++i];
    } else if (path[i] == '.') {
      if (!name.empty()) names.push_back(std::exchange(name, {}));
    } else {
      name += path[i];
    }
  }
  if (!name.empty()) names.push_back(name);
  return names;
}

/// The end of the bracket that opens at 0; ignores brackets in quotes.
std::size_t closing(std::string_view text) {
  char quote = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']' && --depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

}  // namespace

Result<JsonPath::Step> JsonPath::parse_filter(std::string_view condition) {
  Filter filter;
  static constexpr std::array<std::string_view, 6> kOperators = {"==", "!=", "<=", ">=", "<", ">"};
  std::string_view left = trim(condition);
  for (const std::string_view op : kOperators) {
    const std::size_t at = condition.find(op);
    if (at == std::string_view::npos) continue;
    filter.op = std::string(op);
    ASSIGN_OR_RETURN(filter.value, literal(condition.substr(at + op.size())));
    left = trim(condition.substr(0, at));
    break;
  }
  filter.exists = filter.op.empty();
  if (!left.starts_with('@')) return Error::invalid_argument("filter \"{}\" must begin with '@'", condition);
  filter.path = names_of(left.substr(1));
  return Step(std::move(filter));
}

Result<JsonPath::Step> JsonPath::parse_brackets(std::string_view inside) {
  inside = trim(inside);
  if (inside == "*") return Step(All{});
  if (quoted(inside)) return Step(Member{std::string(inside.substr(1, inside.size() - 2))});
  if (inside.starts_with("?(") && inside.ends_with(')')) return parse_filter(inside.substr(2, inside.size() - 3));
  if (const auto index = parse_integer<decltype(Index::at)>(inside)) return Step(Index{*index});
  return Error::invalid_argument("\"[{}]\" is not an index, name or filter", inside);
}

Result<JsonPath> JsonPath::parse(std::string_view text) {
  JsonPath path;
  std::string_view rest = trim(text);
  if (rest.starts_with('{') && rest.ends_with('}')) rest = rest.substr(1, rest.size() - 2);
  if (rest.starts_with('$')) rest.remove_prefix(1);
  while (!rest.empty()) {
    if (rest.front() == '[') {
      const std::size_t end = closing(rest);
      if (end == std::string_view::npos) return Error::invalid_argument("\"{}\": unterminated array", text);
      Result<Step> step = parse_brackets(rest.substr(1, end - 1));
      if (!step) return step.error().within(text);
      path.steps_.push_back(*std::move(step));
      rest.remove_prefix(end + 1);
      continue;
    }
    if (rest.front() != '.' && !path.steps_.empty()) {
      return Error::invalid_argument("\"{}\": unexpected \"{}\"", text, rest);
    }
    if (rest.front() == '.') rest.remove_prefix(1);
    std::size_t end = 0;
    std::string name;
    while (end < rest.size() && rest[end] != '.' && rest[end] != '[') {
      if (rest[end] == '\\' && end + 1 < rest.size()) ++end;
      name += rest[end++];
    }
    rest.remove_prefix(end);
    if (name == "*") {
      path.steps_.emplace_back(All{});
    } else if (!name.empty()) {
      path.steps_.emplace_back(Member{std::move(name)});
    } else if (!rest.empty() && rest.front() == '.') {
      return Error::invalid_argument("\"{}\": recursive descent is not supported", text);
    }
  }
  return path;
}

bool JsonPath::holds(const Filter& filter, const Json& element) {
  const Json* at = &element;
  for (const std::string& name : filter.path) {
    at = find_path(*at, {name});
    if (at == nullptr) return false;
  }
  if (filter.exists) return true;
  if (filter.op == "==") return *at == filter.value;
  if (filter.op == "!=") return *at != filter.value;
  if (filter.op == "<") return *at < filter.value;
  if (filter.op == "<=") return *at <= filter.value;
  if (filter.op == ">") return *at > filter.value;
  return *at >= filter.value;
}

std::vector<const Json*> JsonPath::find(const Json& json) const {
  std::vector<const Json*> found = {&json};
  for (const Step& step : steps_) {
    std::vector<const Json*> next;
    for (const Json* at : found) {
      if (const auto* member = std::get_if<Member>(&step)) {
        if (const Json* value = at->is_object() ? find_path(*at, {member->name}) : nullptr) next.push_back(value);
      } else if (const auto* index = std::get_if<Index>(&step)) {
        const auto size = static_cast<std::int64_t>(at->is_array() ? at->size() : 0);
        const std::int64_t position = index->at < 0 ? size + index->at : index->at;
        if (position >= 0 && position < size) next.push_back(&(*at)[static_cast<std::size_t>(position)]);
      } else if (at->is_structured()) {
        const auto* filter = std::get_if<Filter>(&step);
        for (const Json& element : *at) {
          if (filter == nullptr || holds(*filter, element)) next.push_back(&element);
        }
      }
    }
    found = std::move(next);
  }
  return found;
}

}  // namespace tpuslice::sim

#include "tests/e2e/runner/field_path.h"

#include "api/base/strings.h"

namespace tpuslice::e2e {

Result<FieldPath> FieldPath::parse(std::string_view text) {
  FieldPath path;
  path.text_ = text;
  std::string_view rest = text;
  while (!rest.empty()) {
    if (rest.front() == '.') {
      ASSIGN_OR_RETURN(Part part, parse_member(rest));
      path.parts_.push_back(std::move(part));
      continue;
    }
    const std::size_t end = rest.find(']');
    if (rest.front() != '[' || end == std::string_view::npos) {
      return Error::invalid_argument("path {}: \"{}\" must start with .name or [...]", text, rest);
    }
    auto part = parse_bracket(rest.substr(1, end - 1));
    if (!part) return part.error().within("path " + std::string(text));
    path.parts_.push_back(std::move(*part));
    rest.remove_prefix(end + 1);
  }
  if (path.parts_.empty()) return Error::invalid_argument("path is empty");
  return path;
}

Result<FieldPath::Part> FieldPath::parse_member(std::string_view& rest) {
  Part part;
  std::size_t i = 1;
  for (; i < rest.size() && rest[i] != '.' && rest[i] != '['; ++i) {
    if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
    part.name += rest[i];
  }
  if (part.name.empty()) return Error::invalid_argument("path: no name in \"{}\"", rest);
  rest.remove_prefix(i);
  return part;
}

Result<FieldPath::Part> FieldPath::parse_bracket(std::string_view inside) {
  constexpr std::string_view kFilterBegin = "?(@.";
  if (inside == "*") return Part{.kind = Kind::kAll};
  if (inside.starts_with(kFilterBegin) && inside.ends_with("\")")) {
    const std::string_view filter = inside.substr(kFilterBegin.size(), inside.size() - kFilterBegin.size() - 2);
    const std::size_t equals = filter.find("==\"");
    if (equals != std::string_view::npos && equals > 0) {
      return Part{.kind = Kind::kFilter,
                  .name = std::string(filter.substr(0, equals)),
                  .value = std::string(filter.substr(equals + 3))};
    }
  }
  if (const auto index = parse_integer<decltype(Part::index)>(inside))
    return Part{.kind = Kind::kIndex, .index = *index};
  return Error::invalid_argument("found [{}], expected a number, * or ?(@.name==\"value\")", inside);
}

std::vector<Json> FieldPath::values(const Json& json) const {
  std::vector<const Json*> found = {&json};
  for (const Part& part : parts_) {
    std::vector<const Json*> next;
    for (const Json* const each : found) {
      if (part.kind == Kind::kMember) {
        if (each->is_object() && each->contains(part.name)) next.push_back(&each->at(part.name));
      } else if (each->is_array()) {
        for (std::size_t i = 0; i < each->size(); ++i) {
          const Json& item = (*each)[i];
          if (part.kind == Kind::kAll || (part.kind == Kind::kIndex && part.index == i) ||
              (part.kind == Kind::kFilter && string_at(item, {part.name}) == part.value)) {
            next.push_back(&item);
          }
        }
      }
    }
    found = std::move(next);
  }
  std::vector<Json> out;
  for (const Json* const each : found) out.push_back(*each);
  return out;
}

}  // namespace tpuslice::e2e

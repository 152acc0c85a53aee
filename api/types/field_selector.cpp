#include <algorithm>

#include "api/types/selector.h"

namespace tpuslice {
namespace {

constexpr std::string_view kEscaped = "\\,=";

std::string escape(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (kEscaped.find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

/// One "field=value", from `start`; leaves `position` behind its comma.
Result<FieldRequirement> parse_term(std::string_view text, std::size_t& position) {
  const auto fail = [&](std::size_t at, std::string_view message) {
    return Error::invalid_argument("field selector \"{}\", position {}: {}", text, at, message);
  };
  FieldRequirement term;
  const std::size_t sign = text.find_first_of("=!,", position);
  if (sign == std::string_view::npos || text[sign] == ',') return fail(position, "a term has no '=' or '!='");
  term.field = text.substr(position, sign - position);
  if (term.field.empty()) return fail(position, "a term has no field name");
  term.equal = text[sign] == '=';
  if (!term.equal && !text.substr(sign).starts_with("!=")) return fail(sign, "found '!' where '!=' was expected");
  position = sign + (text.substr(sign + 1).starts_with('=') ? 2 : 1);

  for (; position < text.size() && text[position] != ','; ++position) {
    char c = text[position];
    if (c == '=') return fail(position, "an '=' in a value must be written \"\\=\"");
    if (c == '\\') {
      if (++position == text.size()) return fail(position, "ends with a lone backslash");
      c = text[position];
      if (kEscaped.find(c) == std::string_view::npos) return fail(position, "only '\\', ',' and '=' can be escaped");
    }
    term.value += c;
  }
  if (position < text.size()) ++position;
  return term;
}

}  // namespace

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
  FieldSelector selector;
  for (std::size_t position = 0; position < text.size();) {
    if (text[position] == ',') {  // Upstream lets empty terms pass.
      ++position;
      continue;
    }
    ASSIGN_OR_RETURN(FieldRequirement term, parse_term(text, position));
    selector.requirements_.push_back(std::move(term));
  }
  return selector;
}

bool FieldSelector::matches(const Lookup& lookup) const {
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const FieldRequirement& requirement) {
    return (lookup(requirement.field) == requirement.value) == requirement.equal;
  });
}

std::string FieldSelector::to_string() const {
  std::string text;
  for (const FieldRequirement& requirement : requirements_) {
    if (!text.empty()) text += ',';
    text += requirement.field + (requirement.equal ? "=" : "!=") + escape(requirement.value);
  }
  return text;
}

Result<bool> matches_node_selector(const Json& node_selector, const StringMap& labels, std::string_view node_name) {
  const Json* terms = find_path(node_selector, {"nodeSelectorTerms"});
  if (terms == nullptr || !terms->is_array() || terms->empty()) {
    return Error::invalid_argument("nodeSelectorTerms must be a list of at least one term");
  }
  bool matched = false;
  for (std::size_t i = 0; i < terms->size(); ++i) {
    const Json& term = (*terms)[i];
    const auto part = [&](const char* name) {
      const Json* found = find_path(term, {name});
      return found == nullptr ? Json() : *found;
    };
    const auto parse_part = [&](const char* name) {
      Result<LabelSelector> parsed = LabelSelector::from_node_expressions(part(name));
      if (!parsed)
        return Result<LabelSelector>(parsed.error().within(fmt::format("nodeSelectorTerms[{}].{}", i, name)));
      return parsed;
    };
    ASSIGN_OR_RETURN(const LabelSelector expressions, parse_part("matchExpressions"));
    ASSIGN_OR_RETURN(const LabelSelector fields, parse_part("matchFields"));
    for (const Requirement& field : fields.requirements()) {
      if (field.key == "metadata.name" && field.op <= SelectorOperator::kNotIn && field.values.size() == 1) continue;
      return Error::invalid_argument(
          "nodeSelectorTerms[{}].matchFields: \"{}\" must be metadata.name with In or NotIn and one value", i,
          field.key);
    }
    if (expressions.matches_everything() && fields.matches_everything()) continue;
    const StringMap name_field = {{"metadata.name", std::string(node_name)}};
    matched |= expressions.matches(labels) && fields.matches(name_field);
  }
  return matched;
}

}  // namespace tpuslice

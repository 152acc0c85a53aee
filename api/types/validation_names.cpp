#include "api/types/validation_names.h"

#include <algorithm>

#include "api/base/strings.h"
#include "api/types/utf8.h"

namespace tpuslice {
namespace {

constexpr std::size_t kMaxShownValue = 128;  // Bytes, in messages: a value can have a megabyte.

/// One or more characters, of which the first and the last pass `ends` and all pass `ends` or are among `inner`.
template <typename Ends>
bool is_word(std::string_view text, Ends ends, std::string_view inner) {
  if (text.empty() || !ends(text.front()) || !ends(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return ends(c) || inner.find(c) != std::string_view::npos; });
}

bool is_dns_label(std::string_view text) { return is_word(text, is_lower_or_digit, "-"); }
bool is_qualified_word(std::string_view text) { return is_word(text, is_letter_or_digit, "-_."); }

bool is_dns_subdomain(std::string_view text) {
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!is_dns_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

// Kubernetes' own words, down to the space before "or", because people search for them.
constexpr std::string_view kLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kDns1035Rule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kNamePartRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kLabelValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

ErrorMessages check(std::string_view value, std::size_t longest, bool well_formed, std::string_view rule) {
  ErrorMessages messages;
  if (value.size() > longest) messages.push_back(fmt::format("must be no more than {} bytes", longest));
  if (!well_formed) messages.emplace_back(rule);
  return messages;
}

}  // namespace

ErrorMessages check_dns1123_label(std::string_view value) { return check(value, 63, is_dns_label(value), kLabelRule); }

ErrorMessages check_dns1123_subdomain(std::string_view value) {
  return check(value, 253, is_dns_subdomain(value), kSubdomainRule);
}

ErrorMessages check_dns1035_label(std::string_view value) {
  return check(value, 63, is_dns_label(value) && is_letter(value.front()), kDns1035Rule);
}

ErrorMessages check_label_key(std::string_view value) {
  ErrorMessages messages;
  std::string_view name = value;
  if (const std::size_t slash = value.find('/'); slash != std::string_view::npos) {
    const std::string_view prefix = value.substr(0, slash);
    name = value.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return {
          fmt::format("a qualified name {} with an optional DNS subdomain prefix and '/' (e.g. "
                      "'example.com/MyName')",
                      kNamePartRule)};
    }
    if (prefix.empty()) {
      messages.emplace_back("prefix part must be non-empty");
    } else {
      for (const std::string& message : check_dns1123_subdomain(prefix)) messages.push_back("prefix part " + message);
    }
  }
  if (name.empty()) messages.emplace_back("name part must be non-empty");
  for (const std::string& message : check(name, 63, is_qualified_word(name), kNamePartRule)) {
    messages.push_back("name part " + message);
  }
  return messages;
}

ErrorMessages check_label_value(std::string_view value) {
  return check(value, 63, value.empty() || is_qualified_word(value), kLabelValueRule);
}

Status first_error(std::string_view field, std::string_view value, const ErrorMessages& messages) {
  if (messages.empty()) return {};
  const std::string_view shown = truncate_utf8(value, kMaxShownValue);
  return Error::invalid_argument("{}: Invalid value: \"{}{}\": {}", field, shown, shown == value ? "" : "...",
                                 messages.front());
}

}  // namespace tpuslice

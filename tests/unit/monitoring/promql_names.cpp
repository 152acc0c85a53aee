#include "tests/unit/monitoring/promql_names.h"

#include <array>
#include <cctype>
#include <regex>

#include <fmt/format.h>

namespace tpuslice::testing {
namespace {

const std::set<std::string, std::less<>> kFunctions = {
    "abs",      "absent", "avg", "changes",           "clamp_min", "count", "histogram_quantile",
    "increase", "max",    "min", "present_over_time", "rate",      "sum",   "time",
    "topk"};
const std::set<std::string, std::less<>> kGroupingWords = {"by",       "without",    "on",
                                                           "ignoring", "group_left", "group_right"};
const std::set<std::string, std::less<>> kOtherWords = {"and", "or", "unless", "bool", "offset"};
constexpr std::string_view kOperators = "+-*/%^=<>!,";

class PromqlReader {
 public:
  explicit PromqlReader(std::string_view text) : text_(text) {}

  Result<PromqlNames> read() {
    while (skip_spaces(), at_ < text_.size()) RETURN_IF_ERROR(read_token());
    if (!open_.empty()) return problem("bracket is not closed");
    if (names_.selectors.empty()) return problem("no metric");
    return std::move(names_);
  }

 private:
  Error problem(std::string_view what) const {
    return Error::invalid_argument("{} at \"{}\" of: {}", what, text_.substr(std::min(at_, text_.size())), text_);
  }
  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  [[nodiscard]] char peek() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  std::string take_word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_' || text_[at_] == ':')) {
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  Status read_token() {
    const char c = text_[at_];
    if (c == '(') {
      open_ += c;
      ++at_;
      return {};
    }
    if (c == ')') {
      if (open_.empty()) return problem("bracket is not open");
      open_.pop_back();
      ++at_;
      return {};
    }
    if (c == '[') return read_range();
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') {
      while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.')) {
        ++at_;
      }
      return {};
    }
    if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') return read_name();
    if (kOperators.find(c) == std::string_view::npos) return problem("unexpected character");
    ++at_;
    return {};
  }

  Status read_range() {
    static const std::regex kRange(R"(\[([0-9]+(ms|s|m|h|d)|\$__rate_interval)\])");
    std::match_results<std::string_view::const_iterator> match;
    const std::string_view rest = text_.substr(at_);
    if (!std::regex_search(rest.begin(), rest.end(), match, kRange, std::regex_constants::match_continuous)) {
      return problem("invalid duration");
    }
    at_ += static_cast<std::size_t>(match.length());
    return {};
  }

  Status read_name() {
    const std::string word = take_word();
    if (kGroupingWords.contains(word)) return read_grouping();
    if (kOtherWords.contains(word)) return {};
    if (peek() == '(' || kFunctions.contains(word)) {
      return kFunctions.contains(word) ? Status() : problem(fmt::format("unknown function {}", word));
    }
    names_.selectors.push_back({word, {}});
    return peek() == '{' ? read_matchers(names_.selectors.back().labels) : Status();
  }

  Status read_grouping() {
    if (peek() != '(') return problem("expected labels");
    do {
      ++at_;
      skip_spaces();
      const std::string label = take_word();
      if (label.empty()) return problem("expected a label");
      names_.grouping.insert(label);
    } while (peek() == ',');
    if (peek() != ')') return problem("labels do not end");
    ++at_;
    return {};
  }

  Status read_matchers(std::set<std::string>& labels) {
    do {
      ++at_;
      skip_spaces();
      const std::string label = take_word();
      if (label.empty()) return problem("expected a label");
      labels.insert(label);
      RETURN_IF_ERROR(read_comparison());
    } while (peek() == ',');
    if (peek() != '}') return problem("matchers do not end");
    ++at_;
    return {};
  }

  Status read_comparison() {
    skip_spaces();
    constexpr std::array<std::string_view, 4> kComparisons = {"=~", "!~", "!=", "="};
    bool found = false;
    for (const std::string_view each : kComparisons) {
      if (found || !text_.substr(at_).starts_with(each)) continue;
      at_ += each.size();
      found = true;
    }
    if (!found || peek() != '"') return problem("expected a comparison with a string");
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos) return problem("string does not end");
    at_ = end + 1;
    return {};
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::string open_;
  PromqlNames names_;
};

}  // namespace

Result<PromqlNames> read_promql(std::string_view expression) { return PromqlReader(expression).read(); }

}  // namespace tpuslice::testing

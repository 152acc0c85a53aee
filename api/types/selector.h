// Label selectors and field selectors: which objects a list, a service or an affinity term means.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/json.h"

namespace tpuslice {

enum class SelectorOperator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };

/// One condition on one label. kNotIn and kDoesNotExist also hold where the label is absent.
struct Requirement {
  std::string key;
  SelectorOperator op = SelectorOperator::kExists;
  std::vector<std::string> values;  ///< Sorted. One whole number for kGt and kLt, none for the Exists pair.

  [[nodiscard]] bool matches(const StringMap& labels) const;
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

/// All requirements must hold; without any, everything matches.
class LabelSelector {
 public:
  static LabelSelector everything() { return {}; }
  static LabelSelector nothing();
  /// key=value for each.
  static LabelSelector of(const StringMap& labels);

  /// "a=b,c!=d,e in (x,y),f notin (z),g,!h,i>1". Errors: InvalidArgument with the position.
  static Result<LabelSelector> parse(std::string_view text);
  /// A metav1.LabelSelector. Null matches nothing, {} everything.
  static Result<LabelSelector> from_json(const Json& selector);
  /// The matchExpressions of an affinity's node selector term, where Gt and Lt are legal too.
  static Result<LabelSelector> from_node_expressions(const Json& expressions);

  [[nodiscard]] bool matches(const StringMap& labels) const;
  [[nodiscard]] bool matches_everything() const { return !nothing_ && requirements_.empty(); }
  [[nodiscard]] const std::vector<Requirement>& requirements() const { return requirements_; }
  /// This selector, with that requirement left out.
  [[nodiscard]] LabelSelector without(const Requirement& requirement) const;
  /// The selector of all objects that this one does not match; nullopt unless this has exactly one requirement, other
  /// than > and <: those do not match an object without the label either.
  [[nodiscard]] std::optional<LabelSelector> opposite() const;
  /// The selector as a query parameter, keys sorted: "a=b,e in (x,y)". Reads back as the same selector, unless it is
  /// nothing().
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;

 private:
  explicit LabelSelector(std::vector<Requirement> requirements);
  LabelSelector() = default;

  bool nothing_ = false;
  std::vector<Requirement> requirements_;  ///< Sorted by key.
};

/// Whether a node with these labels and this name is selected by a core/v1 NodeSelector (`nodeSelectorTerms`, of which
/// one must match; a term without expressions or fields matches nothing).
///
/// Errors: InvalidArgument for a selector that the API server would refuse.
[[nodiscard]] Result<bool> matches_node_selector(const Json& node_selector, const StringMap& labels,
                                                 std::string_view node_name);

struct FieldRequirement {
  std::string field;  ///< "metadata.name"
  bool equal = true;
  std::string value;
  friend bool operator==(const FieldRequirement&, const FieldRequirement&) = default;
};

class FieldSelector {
 public:
  /// The value of a field, "" when absent.
  using Lookup = std::function<std::string(std::string_view field)>;

  static FieldSelector everything() { return {}; }
  /// "a.b=c,d!=e", with "\," "\=" and "\\" in values. Errors: InvalidArgument with the position.
  static Result<FieldSelector> parse(std::string_view text);

  [[nodiscard]] bool matches(const Lookup& lookup) const;
  [[nodiscard]] const std::vector<FieldRequirement>& requirements() const { return requirements_; }
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const FieldSelector&, const FieldSelector&) = default;

 private:
  std::vector<FieldRequirement> requirements_;
};

}  // namespace tpuslice

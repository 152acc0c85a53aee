// FieldPath: the path of the checked field, as a chain on the stack that is printed only in a field error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/schema/structural.h"

namespace tpuslice::sim {

/// Borrows its parent and its member name: for arguments and locals only.
class FieldPath {
 public:
  FieldPath() = default;
  explicit FieldPath(std::string_view root) : member_(root) {}

  [[nodiscard]] FieldPath member(std::string_view name) const { return {this, name, kMember}; }
  [[nodiscard]] FieldPath item(std::size_t index) const { return {this, {}, static_cast<std::ptrdiff_t>(index)}; }
  /// "labels[key]": a member of a map.
  [[nodiscard]] FieldPath key(std::string_view name) const { return {this, name, kKey}; }

  /// "spec.containers[0].name"; "" for the object itself.
  [[nodiscard]] std::string to_string() const {
    std::string text;
    append_to(text);
    return text;
  }

 private:
  static constexpr std::ptrdiff_t kMember = -1;
  static constexpr std::ptrdiff_t kKey = -2;
  FieldPath(const FieldPath* parent, std::string_view member, std::ptrdiff_t index)
      : parent_(parent), member_(member), index_(index) {}

  void append_to(std::string& text) const {
    if (parent_ != nullptr) parent_->append_to(text);
    if (index_ == kMember) {
      if (!text.empty() && !member_.empty()) text += '.';
      text += member_;
    } else if (index_ == kKey) {
      text += fmt::format("[{}]", member_);
    } else {
      text += fmt::format("[{}]", index_);
    }
  }

  const FieldPath* parent_ = nullptr;
  std::string_view member_;
  std::ptrdiff_t index_ = kMember;
};

/// Collects field errors with the messages of apimachinery.
class Problems {
 public:
  void required(const FieldPath& path, std::string_view detail = {}) {
    add(path, "FieldValueRequired", "Required value", detail);
  }
  void invalid(const FieldPath& path, const Json& value, std::string_view detail) {
    add(path, "FieldValueInvalid", "Invalid value: " + value.dump(-1, ' ', false, Json::error_handler_t::replace),
        detail);
  }
  void forbidden(const FieldPath& path, std::string_view detail) {
    add(path, "FieldValueForbidden", "Forbidden", detail);
  }
  void not_found(const FieldPath& path, const Json& value) {
    add(path, "FieldValueNotFound", "Not found: " + value.dump(), {});
  }
  void duplicate(const FieldPath& path, const Json& value) {
    add(path, "FieldValueDuplicate", "Duplicate value: " + value.dump(), {});
  }
  void unsupported(const FieldPath& path, const Json& value, const std::vector<std::string>& supported) {
    std::string list;
    for (const std::string& each : supported) list += (list.empty() ? "\"" : ", \"") + each + "\"";
    add(path, "FieldValueNotSupported", "Unsupported value: " + value.dump(), "supported values: " + list);
  }
  void add(const FieldPath& path, std::string_view reason, std::string_view message, std::string_view detail) {
    FieldProblem problem{path.to_string(), std::string(message), std::string(reason)};
    if (problem.path.empty()) problem.path = "<nil>";
    if (!detail.empty()) problem.message += ": " + std::string(detail);
    list_.push_back(std::move(problem));
  }

  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] const std::vector<FieldProblem>& list() const { return list_; }
  [[nodiscard]] std::vector<FieldProblem> take() { return std::move(list_); }

 private:
  std::vector<FieldProblem> list_;
};

}  // namespace tpuslice::sim

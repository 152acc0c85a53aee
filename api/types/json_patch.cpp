#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "api/base/strings.h"
#include "api/types/json_pointer.h"
#include "api/types/patch.h"

namespace tpuslice {
namespace {

// Copying can double a document with every operation, and nest it one level deeper.
constexpr std::size_t kMaxOperations = 10'000;
constexpr std::size_t kMaxCopiedValues = 1'000'000;
constexpr std::size_t kDeepest = JsonLimits().depth;

using Pointer = std::vector<std::string>;

std::optional<std::size_t> parse_index(std::string_view step) {
  if (step.empty() || (step.size() > 1 && step.front() == '0')) return std::nullopt;
  return parse_integer<std::size_t>(step);
}

Json* child(Json& parent, const std::string& step) {
  if (parent.is_object()) {
    const auto member = parent.find(step);
    return member == parent.end() ? nullptr : &*member;
  }
  if (!parent.is_array()) return nullptr;
  const auto index = parse_index(step);
  return index && *index < parent.size() ? &parent[*index] : nullptr;
}

Json* descend(Json& document, const Pointer& pointer, std::size_t steps) {
  Json* at = &document;
  for (std::size_t i = 0; i < steps && at != nullptr; ++i) at = child(*at, pointer[i]);
  return at;
}

Error absent(std::string_view what) { return Error::invalid_argument("{} does not exist", what); }

Status check_depth(const Json& value, std::size_t above) {
  if (above > kDeepest) return Error::invalid_argument("the result is nested deeper than {} levels", kDeepest);
  if (!value.is_structured()) return {};
  for (const Json& item : value) RETURN_IF_ERROR(check_depth(item, above + 1));
  return {};
}

std::size_t count_values(const Json& value) {
  std::size_t count = 1;
  if (!value.is_structured()) return count;
  for (const Json& item : value) count += count_values(item);
  return count;
}

Status add(Json& document, const Pointer& pointer, Json value) {
  RETURN_IF_ERROR(check_depth(value, pointer.size()));
  if (pointer.empty()) {
    document = std::move(value);
    return {};
  }
  Json* parent = descend(document, pointer, pointer.size() - 1);
  const std::string& last = pointer.back();
  if (parent == nullptr) return absent("its parent");
  if (parent->is_object()) {
    (*parent)[last] = std::move(value);
    return {};
  }
  if (!parent->is_array()) {
    return Error::invalid_argument("its parent is a JSON {}, must be an object or array", parent->type_name());
  }
  const auto index = last == "-" ? parent->size() : parse_index(last);
  if (!index || *index > parent->size()) {
    return Error::invalid_argument("\"{}\" is not an index of an array of {}", last, parent->size());
  }
  parent->insert(parent->begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
  return {};
}

/// Returns the removed value.
Result<Json> remove(Json& document, const Pointer& pointer) {
  Json* found = descend(document, pointer, pointer.size());
  if (found == nullptr) return absent("it");
  Json value = std::move(*found);
  if (pointer.empty()) {
    document = nullptr;
    return value;
  }
  Json& parent = *descend(document, pointer, pointer.size() - 1);
  if (parent.is_object()) {
    parent.erase(pointer.back());
  } else {
    parent.erase(*parse_index(pointer.back()));
  }
  return value;
}

class Patcher {
 public:
  explicit Patcher(Json document) : document_(std::move(document)) {}

  Status apply(const Json& operation) {
    const std::string op = string_at(operation, {"op"});
    ASSIGN_OR_RETURN(const Pointer path, pointer_in(operation, "path"));
    if (op == "remove") {
      const Result<Json> removed = remove(document_, path);
      return removed ? Status() : Status(removed.error());
    }
    if (op == "move" || op == "copy") return transfer(operation, path, op == "move");
    if (op != "add" && op != "replace" && op != "test") {
      return Error::invalid_argument("op is \"{}\", must be add, remove, replace, move, copy or test", op);
    }
    const Json* value = find_path(operation, {"value"});
    if (value == nullptr) return Error::invalid_argument("it has no value");
    if (op == "add") return add(document_, path, *value);

    Json* found = descend(document_, path, path.size());
    if (found == nullptr) return absent("it");
    if (op == "test") {
      if (*found == *value) return {};
      return Error::invalid_argument("found {}, must be {}", found->dump(), value->dump());
    }
    RETURN_IF_ERROR(check_depth(*value, path.size()));
    *found = *value;
    return {};
  }

  Json finish() { return std::move(document_); }

 private:
  static Result<Pointer> pointer_in(const Json& operation, const char* member) {
    const Json* text = find_path(operation, {member});
    if (text == nullptr || !text->is_string()) return Error::invalid_argument("{} must be a string", member);
    Result<Pointer> pointer = parse_json_pointer(text->get_ref<const std::string&>());
    if (!pointer) return pointer.error().within(member);
    return pointer;
  }

  Status transfer(const Json& operation, const Pointer& to, bool move) {
    ASSIGN_OR_RETURN(const Pointer from, pointer_in(operation, "from"));
    Json* source = descend(document_, from, from.size());
    if (source == nullptr) return absent("from");
    if (!move) {
      copied_ += count_values(*source);
      if (copied_ > kMaxCopiedValues)
        return Error::invalid_argument("more than {} values are copied", kMaxCopiedValues);
      Json value = *source;
      return add(document_, to, std::move(value));
    }
    if (from == to) return {};
    if (to.size() > from.size() && std::equal(from.begin(), from.end(), to.begin())) {
      return Error::invalid_argument("from cannot be moved into itself");
    }
    ASSIGN_OR_RETURN(Json value, remove(document_, from));
    return add(document_, to, std::move(value));
  }

  Json document_;
  std::size_t copied_ = 0;
};

}  // namespace

Result<Json> apply_json_patch(Json document, const Json& patch) {
  if (!patch.is_array()) return Error::invalid_argument("JSON patch is a JSON {}, must be an array", patch.type_name());
  if (patch.size() > kMaxOperations) {
    return Error::invalid_argument("JSON patch has {} operations, at most {} are accepted", patch.size(),
                                   kMaxOperations);
  }
  Patcher patcher(std::move(document));
  for (std::size_t i = 0; i < patch.size(); ++i) {
    if (const Status status = patcher.apply(patch[i]); !status.ok()) {
      return status.error().within(fmt::format("JSON patch operation {} ({} \"{}\")", i,
                                               string_at(patch[i], {"op"}, "?"), string_at(patch[i], {"path"}, "?")));
    }
  }
  return patcher.finish();
}

}  // namespace tpuslice

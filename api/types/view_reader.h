// How views read JSON: simdjson's on-demand API walks the text once, members in document order, and skips members that
// are not read. Included by the .cpp files of views only, since simdjson's header is large.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <simdjson.h>

#include "api/base/pool.h"
#include "api/types/views.h"

namespace tpuslice::view {

using Array = simdjson::ondemand::array;
using Value = simdjson::ondemand::value;

/// A member of the right JSON type whose value is not a timestamp, a quantity or a number in range.
struct BadMember {
  std::string message;
};

inline bool is_null(Value value) { return value.type() == simdjson::ondemand::json_type::null; }

/// Calls `visit(key, value)` for every member that is not null. Absent and null mean the same in the Kubernetes API.
template <typename Visit>
void each_member(Value value, Visit visit) {
  for (auto field : value.get_object()) {
    const std::string_view key = field.unescaped_key();
    Value member = field.value();
    if (!is_null(member)) visit(key, member);
  }
}

template <typename Visit>
void each_item(Value value, Visit visit) {
  for (auto item : value.get_array()) {
    Value element = item.value();
    if (!is_null(element)) visit(element);
  }
}

[[nodiscard]] std::string text_of(Value value);
/// Shares text that objects of one workload have in common.
[[nodiscard]] SharedString shared_text_of(Value value);
[[nodiscard]] bool flag_of(Value value);
[[nodiscard]] std::int64_t number_of(Value value);
/// `name` is used in the error.
[[nodiscard]] std::int32_t int32_of(Value value, std::string_view name);
[[nodiscard]] Timestamp time_of(Value value);
/// A quantity, string or number, as ResourceAmount::amount of the resource with this name.
[[nodiscard]] std::int64_t amount_of(Value value, std::string_view resource);
/// `keep`: prefixes of the keys to keep; null: all.
[[nodiscard]] StringMap strings_of(Value value, const KeptKeys* keep = nullptr);
[[nodiscard]] bool is_kept(std::string_view key, const KeptKeys* keep);

/// Members that all objects have.
struct Metadata {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  std::optional<Timestamp> created;
  std::optional<Timestamp> deletion;
  std::optional<std::int64_t> deletion_grace_seconds;
  bool foreground_deletion = false;  ///< Has the finalizer foregroundDeletion.
  StringMap labels;
  StringMap annotations;
  std::optional<ControllerRef> controller;
  bool has_owner = false;
};
/// `keep`: prefixes of the labels and annotations to keep; null: all. The API server limits the length of a label, but
/// not their number.
[[nodiscard]] Metadata read_metadata(Value value, const KeptKeys* keep = nullptr);

/// Whether `keep` has the key as a whole.
[[nodiscard]] bool has_key(const KeptKeys& keep, std::string_view key);
/// Whether a view keeps the amount of a resource: it is an extended one, of which `keep` has the name; null: any.
[[nodiscard]] bool is_kept_resource(std::string_view name, const KeptKeys* keep);
/// Whether it is one of kComputeResources.
[[nodiscard]] bool is_compute_resource(std::string_view name);
/// The amount of the resource, 0 at first.
[[nodiscard]] std::int64_t& amount_in(ResourceAmounts& resources, std::string_view name);
/// Sorts them, without those of which there are none.
void normalize(ResourceAmounts& resources);

struct ConditionView {
  std::string type;
  bool is_true = false;
  std::optional<Timestamp> changed;
  SharedString reason;
  SharedString message;
};
[[nodiscard]] ConditionView read_condition(Value value);

struct Conditions {
  ConditionView ready;
  ConditionView scheduled;
  ConditionView disruption;  ///< DisruptionTarget
};
[[nodiscard]] Conditions read_conditions(Value value);

/// A parser with a buffer: simdjson reads past the end of its input, up to a fixed padding, so the bytes are copied to
/// where they may be followed by some.
class Decoder {
 public:
  /// See view::decode().
  template <typename Visit>
  Status decode(std::string_view kind, std::string_view json, Visit visit) {
    std::string part;
    try {
      simdjson::ondemand::document document = parser_.iterate(padded(json));
      for (auto field : document.get_object()) {
        const std::string_view key = field.unescaped_key();
        part = key;
        Value member = field.value();
        if (!is_null(member)) visit(key, member);
      }
      part.clear();
      // The only place past the last token is the end of the text.
      if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
        return Error::invalid_argument("{} is followed by other text", kind);
      return {};
    } catch (const simdjson::simdjson_error& error) {
      return failure(kind, part, error.what());
    } catch (const BadMember& bad) {
      return failure(kind, part, bad.message);
    }
  }

 private:
  static Error failure(std::string_view kind, std::string_view part, std::string_view message) {
    if (part.empty()) return Error::invalid_argument("{} cannot be decoded: {}", kind, message);
    return Error::invalid_argument("{} cannot be decoded: .{}: {}", kind, part, message);
  }

  simdjson::padded_string_view padded(std::string_view json) {
    const std::size_t needed = json.size() + simdjson::SIMDJSON_PADDING;
    if (buffer_.size() < needed) buffer_.resize(needed);
    std::memcpy(buffer_.data(), json.data(), json.size());
    std::memset(buffer_.data() + json.size(), 0, simdjson::SIMDJSON_PADDING);
    return simdjson::padded_string_view(buffer_.data(), json.size(), buffer_.size());
  }

  simdjson::ondemand::parser parser_{JsonLimits().bytes};
  std::string buffer_;
};

/// Making a decoder costs more than decoding a pod.
[[nodiscard]] Pool<Decoder>& decoders();

/// Calls `visit(key, value)` for every member of the document. Errors: "<kind>: <part>: <what is wrong>".
template <typename Visit>
Status decode(std::string_view kind, std::string_view json, Visit visit) {
  // A decoder takes seven times the bytes of its longest document, so those of long ones are not kept.
  constexpr std::size_t kKeptBytes = 64U << 10U;
  if (json.size() > kKeptBytes) return Decoder().decode(kind, json, std::move(visit));
  return decoders().with([&](Decoder& decoder) { return decoder.decode(kind, json, std::move(visit)); });
}

/// Errors: InvalidArgument for an object without name or uid.
[[nodiscard]] Status check_identity(std::string_view kind, const Metadata& metadata);

/// Moves the metadata into those members that the view has. Errors: those of check_identity().
template <typename View>
[[nodiscard]] Status take_metadata(std::string_view kind, Metadata&& metadata, View& view) {
  RETURN_IF_ERROR(check_identity(kind, metadata));
  view.key = std::move(metadata.key);
  view.uid = std::move(metadata.uid);
  view.resource_version = std::move(metadata.resource_version);
  view.deletion = metadata.deletion;
  view.controller = std::move(metadata.controller);
  if constexpr (requires { view.has_owner; }) view.has_owner = metadata.has_owner;
  if constexpr (requires { view.generation; }) view.generation = metadata.generation;
  if constexpr (requires { view.created; }) view.created = metadata.created;
  if constexpr (requires { view.labels; }) view.labels = std::move(metadata.labels);
  if constexpr (requires { view.annotations; }) view.annotations = std::move(metadata.annotations);
  return {};
}

}  // namespace tpuslice::view

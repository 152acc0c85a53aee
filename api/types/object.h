// Object: one Kubernetes object, its JSON kept whole, with accessors for the metadata everybody needs.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "api/types/json.h"
#include "api/types/resource_type.h"

namespace tpuslice {

/// Namespace (empty for cluster-scoped) and name. Prints as "default/train" or "node-1".
struct ObjectKey {
  std::string namespace_name;
  std::string name;

  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const ObjectKey&, const ObjectKey&) = default;
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

/// The owner reference that has `controller: true`.
struct ControllerRef {
  SharedString api_version;
  SharedString kind;
  SharedString name;
  SharedString uid;

  [[nodiscard]] Json to_json(bool block_owner_deletion = true) const;
  friend bool operator==(const ControllerRef&, const ControllerRef&) = default;
};

/// A value: copies are deep. Accessors of absent or ill-typed members return empty values.
class Object {
 public:
  Object() : json_(Json::object()) {}
  explicit Object(Json json) : json_(std::move(json)) {}

  [[nodiscard]] const Json& json() const { return json_; }
  [[nodiscard]] Json& mutable_json() { return json_; }

  [[nodiscard]] std::string api_version() const;
  [[nodiscard]] std::string kind() const;
  [[nodiscard]] ObjectKey key() const;
  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::string namespace_name() const;
  [[nodiscard]] std::string uid() const;
  [[nodiscard]] std::string resource_version() const;
  [[nodiscard]] std::int64_t generation() const;
  [[nodiscard]] std::optional<Timestamp> deletion_timestamp() const;
  [[nodiscard]] std::string label(std::string_view key) const;
  [[nodiscard]] std::string annotation(std::string_view key) const;
  [[nodiscard]] std::optional<ControllerRef> controller() const;
  /// A reference to this object for its children.
  [[nodiscard]] ControllerRef as_controller() const;

  friend bool operator==(const Object& a, const Object& b) { return a.json_ == b.json_; }

 private:
  Json json_;
};

}  // namespace tpuslice

template <>
struct std::hash<tpuslice::ObjectKey> {
  std::size_t operator()(const tpuslice::ObjectKey& key) const noexcept {
    const std::size_t first = std::hash<std::string>()(key.namespace_name);
    return first ^ (std::hash<std::string>()(key.name) + 0x9e3779b97f4a7c15ULL + (first << 6U) + (first >> 2U));
  }
};

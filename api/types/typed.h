// Typed: an object with the typed spec that was read from it, once, where the object left its store.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/types/object.h"

namespace tpuslice {

/// A value. Copies share the object, from which `Spec` borrows, so a copy may outlive the original. It is constant: a
/// changed object is assigned, and its spec is read again.
template <typename Spec>
class Typed {
  static_assert(
      !requires(Object temporary) { Spec::read(std::move(temporary)); },
      "delete the overload for temporaries, from which the spec would borrow");

 public:
  Typed() : Typed(Object()) {}
  Typed(Object object)  // NOLINT(google-explicit-constructor)
      : object_(std::make_shared<const Object>(std::move(object))), spec_(Spec::read(*object_)) {}

  [[nodiscard]] const Object& object() const { return *object_; }
  [[nodiscard]] const Spec& spec() const { return spec_; }
  operator const Object&() const { return *object_; }  // NOLINT(google-explicit-constructor)

  [[nodiscard]] const Json& json() const { return object_->json(); }
  [[nodiscard]] std::string uid() const { return object_->uid(); }
  [[nodiscard]] std::string resource_version() const { return object_->resource_version(); }
  [[nodiscard]] std::int64_t generation() const { return object_->generation(); }
  [[nodiscard]] std::optional<Timestamp> deletion_timestamp() const { return object_->deletion_timestamp(); }

 private:
  std::shared_ptr<const Object> object_;
  Spec spec_;
};

}  // namespace tpuslice

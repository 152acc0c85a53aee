#include "api/types/typed.h"

#include <optional>
#include <utility>

#include <gtest/gtest.h>

namespace tpuslice {
namespace {

struct ColorSpec {
  const Json* color = nullptr;  // Borrowed.

  static ColorSpec read(const Object& object) { return {find_set(object.json(), {"spec", "color"})}; }
  static ColorSpec read(const Object&&) = delete;
};

Object colored(const char* color) {
  return Object(Json{{"metadata", {{"uid", "u1"}, {"generation", 3}}}, {"spec", {{"color", color}}}});
}

TEST(Typed, HasTheObjectAndItsSpec) {
  const Typed<ColorSpec> typed(colored("red"));
  EXPECT_EQ(*typed.spec().color, "red");
  EXPECT_EQ(typed.object(), colored("red"));
  EXPECT_EQ(typed.uid(), "u1");
  EXPECT_EQ(typed.generation(), 3);
}

TEST(Typed, CopiesOutliveTheOriginal) {
  std::optional<Typed<ColorSpec>> original(colored("red"));
  const Typed<ColorSpec> copy = *original;
  EXPECT_EQ(&copy.object(), &original->object());
  const Typed<ColorSpec> moved = *std::move(original);
  original.reset();
  EXPECT_EQ(*copy.spec().color, "red");
  EXPECT_EQ(*moved.spec().color, "red");
}

TEST(Typed, ReadsTheSpecOfAnAssignedObject) {
  Typed<ColorSpec> typed;
  EXPECT_EQ(typed.spec().color, nullptr);
  typed = colored("blue");
  EXPECT_EQ(*typed.spec().color, "blue");
}

}  // namespace
}  // namespace tpuslice

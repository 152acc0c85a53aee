#include "cmd/kubectl-tpu/manifests.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/yaml.h"
#include "cmd/tpu-slice-operator/kinds.h"
#include "tests/support/error_matchers.h"

namespace tpuslice::plugin {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

ManifestOptions options_for(const std::string& shape, int slices = 1) {
  return {.name = "train",
          .namespace_name = {},
          .shape = parse_slice_shape(shape).value(),
          .slices = slices,
          .image = "example/train:1",
          .command = {"python3", "train.py"}};
}

/// What the validator of the object's kind says, and its unsupported fields; empty for kinds of Kubernetes.
std::vector<std::string> refusals_of(const Json& object) {
  std::vector<std::string> refusals;
  for (const rules::WorkloadKind* each : admission_kinds()) {
    if (each->kind != string_at(object, {"kind"}) || each->validate == nullptr) continue;
    for (const auto& error : each->validate(object, nullptr)) refusals.push_back(error.to_string());
    if (each->unsupported_fields == nullptr) continue;
    for (const auto& field : each->unsupported_fields(object)) refusals.push_back(field.path);
  }
  return refusals;
}

TEST(SliceShapes, AreReadInShort) {
  const SliceShape shape = parse_slice_shape("v6e-4x4").value();
  EXPECT_EQ(shape.accelerator->label, "tpu-v6e-slice");
  EXPECT_EQ(shape.topology.to_string(), "4x4");
  EXPECT_EQ(shape.hosts, 4);
  EXPECT_EQ(shape.chips_per_host, 4);
  EXPECT_EQ(parse_slice_shape("v5p:2x2x4").value().hosts, 4);
  EXPECT_EQ(parse_slice_shape("tpu-v5-lite-podslice-4x8").value().hosts, 8);
}

TEST(SliceShapes, ThatDoNotExistAreRefused) {
  EXPECT_THAT(parse_slice_shape("v6e"), IsError(ErrorCode::kInvalidArgument, HasSubstr("v6e-4x4")));
  EXPECT_THAT(parse_slice_shape("v9-4x4"), IsError(ErrorCode::kInvalidArgument, HasSubstr("v5e")));
  EXPECT_THAT(parse_slice_shape("v6e-3x5"), IsError(ErrorCode::kInvalidArgument, HasSubstr("3x5")));
}

TEST(Manifests, OfAllKindsAndShapesPassTheValidators) {
  for (const std::string& kind : manifest_kinds()) {
    for (const char* shape : {"v6e-1x1", "v6e-2x4", "v6e-4x4", "v5p-2x2x4", "tpu7x-2x2x2"}) {
      const int slices = kind == "job" ? 1 : 2;
      const auto objects = make_manifest(kind, options_for(shape, slices));
      ASSERT_TRUE(objects.ok()) << kind << " " << shape << ": " << objects.error().message();
      for (const Json& object : *objects) EXPECT_THAT(refusals_of(object), IsEmpty()) << kind << " " << to_yaml(object);
    }
  }
}

TEST(Manifests, OfAJobHaveTheServiceOfItsNames) {
  const std::vector<Json> objects = make_manifest("job", options_for("v6e-4x4")).value();
  ASSERT_EQ(objects.size(), 2U);
  EXPECT_EQ(objects[0]["kind"], "Service");
  EXPECT_EQ(objects[0]["metadata"]["name"], objects[1]["spec"]["template"]["spec"]["subdomain"]);
  EXPECT_EQ(objects[1]["spec"]["completions"], 4);
  EXPECT_EQ(make_manifest("job", options_for("v6e-1x1")).value().size(), 1U);
}

TEST(Manifests, RefuseWhatCannotBe) {
  EXPECT_THAT(make_manifest("job", options_for("v6e-4x4", 2)),
              IsError(ErrorCode::kInvalidArgument, HasSubstr("jobset")));
  EXPECT_THAT(make_manifest("deployment", options_for("v6e-4x4")), IsError(ErrorCode::kInvalidArgument));
  ManifestOptions options = options_for("v6e-4x4");
  options.name = "Train_1";
  EXPECT_THAT(make_manifest("lws", options), IsError(ErrorCode::kInvalidArgument, HasSubstr("name")));
  options.name = std::string(41, 'a');
  EXPECT_THAT(make_manifest("lws", options), IsError(ErrorCode::kInvalidArgument, HasSubstr("41 characters")));
}

}  // namespace
}  // namespace tpuslice::plugin

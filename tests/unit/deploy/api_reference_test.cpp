// docs/api is what deploy/crds says. TPUSLICE_GOLDEN=update (`make api-docs`) writes it.
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "api/base/strings.h"
#include "tests/support/crds.h"
#include "tests/unit/deploy/api_reference.h"

namespace tpuslice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json pod_spec_of_raycluster() {
  Json found;
  const Json crd = read_crd("RayCluster");
  each_field(stored_schema(crd), [&](const std::string&, const Json& field, bool) {
    if (found.is_null() && is_pod_spec(field)) found = field;
    return true;
  });
  return found;
}

void expect_page(const std::string& name, const std::string& text) {
  const std::string path = "docs/api/" + name + ".md";
  const char* mode = std::getenv("TPUSLICE_GOLDEN");  // NOLINT(concurrency-mt-unsafe): single-threaded
  if (mode != nullptr && std::string_view(mode) == "update") std::ofstream(path) << text;
  EXPECT_TRUE(read_file(path).value_or("") == text) << path << " differs from deploy/crds: run `make api-docs`";
}

TEST(ApiReference, IsUpToDate) {
  const Json pod_spec = pod_spec_of_raycluster();
  expect_page("pod-spec", pod_reference(pod_spec));
  for (const Json& crd : read_crds()) {
    expect_page(to_lower(string_at(crd, {"spec", "names", "kind"})), api_reference(crd, pod_spec));
  }
}

TEST(ApiReference, PrintsTypesLimitsAndDefaults) {
  const Json crd = Json::parse(R"({
    "spec": {
      "group": "example.org", "names": {"kind": "Example"},
      "versions": [{"name": "v1", "storage": true, "schema": {"openAPIV3Schema": {
        "type": "object", "description": "An example.",
        "properties": {
          "spec": {
            "type": "object", "required": ["size"],
            "x-kubernetes-validations": [{"rule": "true", "message": "must be a|b", "fieldPath": ".size"}],
            "properties": {
              "size": {"type": "integer", "format": "int32", "minimum": 1, "default": 2, "description": "Size."},
              "mode": {"type": "string", "enum": ["A", "B"], "description": "Mode, named <size>"},
              "list": {"type": "array", "description": "List.",
                       "items": {"type": "object", "properties": {"name": {"type": "string", "description": "Name."}}}}}},
          "status": {"type": "object", "properties": {}}}}}}]}})");
  const std::string page = api_reference(crd, Json::object());
  EXPECT_THAT(page, HasSubstr("| `spec.size` | integer (int32) | Size. Required. Minimum 1. Default `2`. |\n"));
  EXPECT_THAT(page, HasSubstr("| `spec.mode` | string | Mode, named &lt;size>. One of `A`, `B`. |\n"));
  EXPECT_THAT(page, HasSubstr("| `spec.list` | list of object | List. |\n| `spec.list[].name` | string | Name. |\n"));
  EXPECT_THAT(page, HasSubstr("| `spec.size` | must be a\\|b |\n"));
  EXPECT_THAT(page, Not(HasSubstr("deprecated")));
}

}  // namespace
}  // namespace tpuslice::testing

// Randomly mutated inputs of every parser: the result is a value or an error with a message.

#include <gtest/gtest.h>

#include "api/base/clock.h"
#include "api/base/random.h"
#include "api/types/patch.h"
#include "api/types/quantity.h"
#include "api/types/selector.h"
#include "api/types/views.h"
#include "api/types/yaml.h"
#include "tests/unit/api/types/sample_job.h"
#include "tests/unit/api/types/sample_pod.h"

namespace tpuslice {
namespace {

/// Changes, removes, repeats or moves a few substrings.
std::string mutate(std::string text, Random& random) {
  for (int edits = random.uniform(1, 6); edits > 0 && !text.empty(); --edits) {
    const auto at = random.uniform<std::size_t>(0, text.size() - 1);
    const auto length = std::min(text.size() - at, random.uniform<std::size_t>(1, 40));
    switch (random.uniform(0, 5)) {
      case 0:
        text[at] = static_cast<char>(random.uniform(0, 255));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.insert(random.uniform<std::size_t>(0, text.size()), text.substr(at, length));
        break;
      case 4: {
        static constexpr std::string_view kSigns = "{}[]:,\"'\\-&*!|>#%@?~= \t\n\r\xff";
        text.insert(at, 1, kSigns[random.uniform<std::size_t>(0, kSigns.size() - 1)]);
        break;
      }
      default:
        text.resize(at);
    }
  }
  return text;
}

template <typename T>
void expect_value_or_message(const Result<T>& result) {
  if (!result.ok()) {
    EXPECT_FALSE(result.error().message().empty());
  }
}

TEST(Fuzz, PodsAsJson) {
  Random random(1);
  for (int i = 0; i < 4000; ++i) {
    const std::string text = mutate(std::string(kSamplePod), random);
    expect_value_or_message(PodView::decode(text));
    expect_value_or_message(NodeView::decode(text));
    expect_value_or_message(JobView::decode(text));
    expect_value_or_message(ObjectView::decode(text));
  }
}

template <typename View>
void expect_views_to_agree_with_the_document(std::string_view sample, std::uint64_t seed) {
  Random random(seed);
  for (int i = 0; i < 4000; ++i) {
    const std::string text = mutate(std::string(sample), random);
    const Result<Json> document = parse_json(text, {.refuse_duplicate_keys = true});
    const Result<View> from_text = View::decode(text);
    expect_value_or_message(from_text);
    if (!document) continue;
    const Result<View> from_document = View::from_json(*document);
    ASSERT_EQ(from_text.ok(), from_document.ok()) << text;
    if (from_text.ok()) {
      ASSERT_EQ(*from_text, *from_document) << text;
    }
  }
}

TEST(Fuzz, PodViewsAgreeWithTheDocument) { expect_views_to_agree_with_the_document<PodView>(kSamplePod, 2); }

TEST(Fuzz, JobViewsAgreeWithTheDocument) { expect_views_to_agree_with_the_document<JobView>(kSampleJob, 7); }

TEST(Fuzz, PodsAsYaml) {
  const std::string sample =
      to_yaml(parse_json(kSamplePod).value()) + "base: &b {x: 1}\nuse: {<<: *b}\nmore: |\n  a\n  b\n";
  Random random(3);
  for (int i = 0; i < 1500; ++i) {
    const std::string text = mutate(sample, random);
    const auto documents = parse_yaml_documents(text);
    expect_value_or_message(documents);
    if (!documents) continue;
    for (const YamlDocument& document : *documents) {
      const Result<Json> back = parse_yaml(to_yaml(document.value));
      ASSERT_TRUE(back.ok()) << back.error().message() << text;
      ASSERT_EQ(*back, document.value) << text;
    }
  }
}

TEST(Fuzz, SelectorsQuantitiesAndTimes) {
  Random random(4);
  for (int i = 0; i < 5000; ++i) {
    const auto labels = LabelSelector::parse(mutate("a=b,c!=d,e in (x,y),f notin (z),g,!h,i>1", random));
    expect_value_or_message(labels);
    if (labels.ok()) {
      EXPECT_EQ(LabelSelector::parse(labels->to_string()).value(), *labels);
    }
    const auto fields = FieldSelector::parse(mutate("metadata.name=a,spec.nodeName!=b\\,c", random));
    if (fields.ok()) {
      EXPECT_EQ(FieldSelector::parse(fields->to_string()).value(), *fields);
    }
    const auto quantity = Quantity::parse(mutate("-1234.5678901234Gi", random));
    if (quantity.ok()) {
      EXPECT_EQ(Quantity::parse(quantity->to_string()).value(), *quantity);
    }
    static_cast<void>(parse_rfc3339(mutate("2026-01-01T00:00:00.123456+02:00", random)));
  }
}

TEST(Fuzz, JsonPatches) {
  const Json document = parse_json(kSamplePod).value();
  const std::string patch =
      R"([{"op":"add","path":"/spec/containers/0/env/-","value":{"name":"B"}},{"op":"remove","path":"/status"},
          {"op":"move","from":"/spec/hostname","path":"/spec/x"},{"op":"copy","from":"/metadata/labels","path":"/spec/y"},
          {"op":"test","path":"/kind","value":"Pod"},{"op":"replace","path":"/spec/priority","value":[1]}])";
  Random random(6);
  for (int i = 0; i < 4000; ++i) {
    const Result<Json> mutated = parse_json(mutate(patch, random));
    if (!mutated) continue;
    const Result<Json> result = apply_json_patch(document, *mutated);
    expect_value_or_message(result);
    if (!result) continue;
    EXPECT_EQ(apply_json_patch(document, json_diff(document, *result)).value(), *result);
  }
}

}  // namespace
}  // namespace tpuslice

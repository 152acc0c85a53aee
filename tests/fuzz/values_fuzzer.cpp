// Parsers of topologies, quantities, patches, YAML and selectors: a parsed value prints and parses to the same value.
//
// The first byte selects the parser. Several texts of one input are separated by line breaks, which JSON never needs.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "api/base/check.h"
#include "api/types/patch.h"
#include "api/types/quantity.h"
#include "api/types/selector.h"
#include "api/types/yaml.h"
#include "tpu/catalog.h"
#include "tpu/geometry.h"

namespace tpuslice {
namespace {

std::pair<std::string_view, std::string_view> split_line(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {text, {}};
  return {text.substr(0, end), text.substr(end + 1)};
}

/// The value; null for an error, which must have a message.
template <typename T>
const T* value_of(const Result<T>& result) {
  if (result.ok()) return &result.value();
  TPUSLICE_CHECK(!result.error().message().empty());
  return nullptr;
}

void check_slice(const tpu::Accelerator& accelerator, const tpu::Topology& topology) {
  const auto choices = tpu::chips_per_host_choices(accelerator, topology);
  TPUSLICE_CHECK(!choices.empty() && choices.front() == tpu::default_chips_per_host(accelerator, topology));
  for (const std::int64_t chips : choices) {
    const auto hosts = tpu::host_count(topology, chips);
    TPUSLICE_CHECK_MSG(hosts.ok() && *hosts > 0 && *hosts * chips == topology.chips(), topology.to_string());
    const auto bounds = tpu::host_bounds(topology, chips);
    TPUSLICE_CHECK_MSG(!bounds.ok() || (*bounds)[0] * (*bounds)[1] * (*bounds)[2] == *hosts, topology.to_string());
  }
  TPUSLICE_CHECK(!tpu::topology_wrap(accelerator, topology).empty());
  static_cast<void>(value_of(tpu::accelerator_type(accelerator, topology)));
}

/// The topology of the node selector and that of the annotation.
void fuzz_topology(std::string_view text) {
  const auto [node_text, annotation] = split_line(text);
  const auto parsed = tpu::Topology::parse(node_text);
  const tpu::Topology* topology = value_of(parsed);
  if (topology == nullptr) return;
  TPUSLICE_CHECK(topology->to_string() == node_text);
  TPUSLICE_CHECK(topology->chips() > 0 && topology->fits_in(*topology));
  for (std::int64_t chips = -1; chips < 10; ++chips) static_cast<void>(value_of(tpu::host_bounds(*topology, chips)));
  for (const tpu::Accelerator& accelerator : tpu::accelerators()) {
    if (!tpu::check_topology(accelerator, *topology).ok()) continue;
    check_slice(accelerator, *topology);
    const tpu::Topology effective = tpu::effective_topology(accelerator, *topology, annotation);
    TPUSLICE_CHECK_MSG(effective == *topology || effective.to_string() == annotation, annotation);
    TPUSLICE_CHECK_MSG(tpu::check_topology(accelerator, effective).ok(), annotation);
    TPUSLICE_CHECK_MSG(effective.fits_in(*topology), annotation);
  }
}

/// The text is canonical, except for a binary amount without a binary suffix: "2000" is parsed as decimal 2k.
void check_prints(const Quantity& quantity) {
  const std::string text = quantity.to_string();
  const auto again = Quantity::parse(text);
  TPUSLICE_CHECK_MSG(again.ok() && *again == quantity, text);
  TPUSLICE_CHECK_MSG(again->to_string() == text || quantity.format() == QuantityFormat::kBinarySI, text);
}

/// Binary amounts are parsed up to the largest int64, but sums may exceed it, as upstream.
bool is_parseable(const Quantity& quantity) {
  static const Quantity kMax(std::numeric_limits<std::int64_t>::max());
  return quantity.format() != QuantityFormat::kBinarySI || (quantity < kMax && kMax * -1 < quantity);
}

/// Two quantities.
void fuzz_quantity(std::string_view text) {
  const auto [first, second] = split_line(text);
  const auto a = Quantity::parse(first);
  if (value_of(a) == nullptr) return;
  check_prints(*a);
  const auto b = Quantity::parse(second);
  if (value_of(b) == nullptr) return;
  const Quantity sum = *a + *b;
  const Quantity difference = *a - *b;
  for (const Quantity& each :
       {sum, difference, *a * 3, *a * -1, sum - difference, difference - sum, sum * b->value()}) {
    if (is_parseable(each)) check_prints(each);
    TPUSLICE_CHECK(!each.to_string().empty());
  }
  TPUSLICE_CHECK(sum == *b + *a);
  TPUSLICE_CHECK((*a < *b) == (difference < Quantity()));
  TPUSLICE_CHECK(*a >= *b || (a->value() <= b->value() && a->milli_value() <= b->milli_value()));
}

/// Without null members, which a merge patch cannot set.
Json without_nulls(const Json& json) {
  if (!json.is_object()) return json;
  Json kept = Json::object();
  for (const auto& [key, value] : json.items()) {
    if (!value.is_null()) kept[key] = without_nulls(value);
  }
  return kept;
}

void check_diffs(const Json& before, const Json& after) {
  const Json diff = json_diff(before, after);
  TPUSLICE_CHECK(diff.is_array());
  const auto result = apply_json_patch(before, diff);
  TPUSLICE_CHECK_MSG(result.ok() && *result == after, diff.dump());
  const Json merge = merge_diff(before, after);
  TPUSLICE_CHECK_MSG(without_nulls(apply_merge_patch(before, merge)) == without_nulls(after), merge.dump());
  TPUSLICE_CHECK(json_diff(before, before).empty());
}

/// A document and a patch, applied as both kinds of patch; then the diff of both.
void fuzz_patch(std::string_view text) {
  const auto [first, second] = split_line(text);
  const auto document = parse_json(first);
  const auto patch = parse_json(second);
  if (value_of(document) == nullptr || value_of(patch) == nullptr) return;
  const auto patched = apply_json_patch(*document, *patch);
  if (const Json* result = value_of(patched)) {
    const auto again = parse_json(result->dump());
    TPUSLICE_CHECK_MSG(again.ok() && *again == *result, result->dump());
    check_diffs(*document, *result);
    check_diffs(*result, *document);
  }
  const Json merged = apply_merge_patch(*document, *patch);
  TPUSLICE_CHECK(apply_merge_patch(merged, *patch) == merged);
  check_diffs(*document, merged);
  check_diffs(*document, *patch);
}

void fuzz_yaml(std::string_view text) {
  const auto documents = parse_yaml_documents(text);
  if (value_of(documents) == nullptr) return;
  for (const YamlDocument& document : *documents) {
    const std::string json = document.value.dump();
    const auto as_json = parse_json(json);
    TPUSLICE_CHECK_MSG(as_json.ok() && *as_json == document.value, json);
    const auto again = parse_yaml(to_yaml(document.value));
    TPUSLICE_CHECK_MSG(again.ok() && *again == document.value, json);
  }
}

/// A label or field selector, as a query parameter and as JSON.
void fuzz_selector(std::string_view text) {
  static const StringMap kLabels = {{"a", "b"}, {"app.kubernetes.io/name", "x"}, {"n", "4"}};
  const auto labels = LabelSelector::parse(text);
  if (const LabelSelector* selector = value_of(labels)) {
    const auto again = LabelSelector::parse(selector->to_string());
    TPUSLICE_CHECK_MSG(again.ok() && *again == *selector, selector->to_string());
    TPUSLICE_CHECK(again->matches(kLabels) == selector->matches(kLabels));
  }
  const auto fields = FieldSelector::parse(text);
  if (const FieldSelector* selector = value_of(fields)) {
    const auto again = FieldSelector::parse(selector->to_string());
    TPUSLICE_CHECK_MSG(again.ok() && *again == *selector, selector->to_string());
    static_cast<void>(selector->matches([](std::string_view field) { return std::string(field); }));
  }
  const auto json = parse_json(text);
  if (!json.ok()) return;
  const auto of_json = LabelSelector::from_json(*json);
  if (const LabelSelector* selector = value_of(of_json)) static_cast<void>(selector->matches(kLabels));
  static_cast<void>(value_of(LabelSelector::from_node_expressions(*json)));
  static_cast<void>(value_of(matches_node_selector(*json, kLabels, "node-1")));
}

void fuzz(std::string_view input) {
  if (input.empty()) return;
  const std::string_view text = input.substr(1);
  switch (input.front()) {
    case 't':
      return fuzz_topology(text);
    case 'q':
      return fuzz_quantity(text);
    case 'p':
      return fuzz_patch(text);
    case 'y':
      return fuzz_yaml(text);
    case 's':
      return fuzz_selector(text);
    default:
      return;
  }
}

}  // namespace
}  // namespace tpuslice

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tpuslice::fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}

#include "tpu/rules/pod_warnings.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/strings.h"
#include "api/types/utf8.h"
#include "api/types/validation_names.h"
#include "tpu/catalog.h"
#include "tpu/labels.h"
#include "tpu/teardown_grace.h"

namespace tpuslice::rules {
namespace {

bool is_number_of_slices(std::string_view text) {
  const std::optional<int> slices = parse_count(text);
  return slices && *slices > 0 && *slices <= tpu::kMaxSliceHosts;
}

bool is_gang_name(std::string_view text) { return check_label_value(text).empty(); }

bool is_teardown_grace(std::string_view text) { return tpu::parse_teardown_grace(text).has_value(); }

bool is_scale_up_choice(std::string_view text) { return std::ranges::count(tpu::kScaleUpChoices, text) > 0; }

void add_annotation_warnings(const Json& pod, const std::string& path, std::vector<std::string>& warnings) {
  const auto check = [&](std::string_view name, bool (*is_valid)(std::string_view), const std::string& advice) {
    std::string value = string_at(pod, {"metadata", "annotations", name});
    if (value.empty() || is_valid(value) || warnings.size() == kMaxPodWarnings) return;
    warnings.push_back(fmt::format("{}metadata.annotations[{}]: value \"{}\" has no effect: {}", path, name,
                                   clip(std::move(value), kMaxWarnedValue), advice));
  };
  check(tpu::kGangSlices, is_number_of_slices, fmt::format("must be a number from 1 to {}", tpu::kMaxSliceHosts));
  check(tpu::kGang, is_gang_name, "must be a valid label value");
  const bool is_counted = !string_at(pod, {"metadata", "annotations", tpu::kGangSlices}).empty();
  if (!is_counted) {
    check(
        tpu::kGang, [](std::string_view) { return false; },
        fmt::format("set the annotation {} to the number of slices of the gang, too", tpu::kGangSlices));
  }
  check(tpu::kScaleUp, is_scale_up_choice,
        fmt::format("supported values: \"{}\"", fmt::join(tpu::kScaleUpChoices, "\", \"")));
  check(tpu::kTeardownGrace, is_teardown_grace, "must be a number of at least 1; 0 would force the deletion");
}

}  // namespace

std::vector<std::string> warn_invalid_annotations(const Json& object) {
  std::vector<std::string> warnings;
  for_each_tpu_pod(object, [&](const Json& pod, const std::string& path) {
    add_annotation_warnings(pod, path, warnings);
    return warnings.size() < kMaxPodWarnings;
  });
  return warnings;
}

std::vector<std::string> warn_invalid_annotations_of_pod(const Json& pod) {
  std::vector<std::string> warnings;
  add_annotation_warnings(pod, "", warnings);
  return warnings;
}

}  // namespace tpuslice::rules

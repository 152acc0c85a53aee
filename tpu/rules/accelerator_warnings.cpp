#include "tpu/rules/pod_warnings.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/types/utf8.h"
#include "tpu/catalog.h"
#include "tpu/labels.h"
#include "tpu/slice_shape.h"

namespace tpuslice::rules {
namespace {

std::string known_accelerators() {
  std::vector<std::string_view> labels;
  for (const tpu::Accelerator& accelerator : tpu::accelerators()) labels.push_back(accelerator.label);
  return fmt::format("the accelerators that tpu-slice-operator knows are {}", fmt::join(labels, ", "));
}

std::string digits_of(std::string_view text) {
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), [](char c) { return c >= '0' && c <= '9'; });
  return digits;
}

/// Number of characters to insert, delete or replace.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// Whether they name different variants of a generation: v5e, whose accelerators are called "v5-lite", and v5p.
bool differ_in_variant(std::string_view label, std::string_view known) {
  const auto has = [](std::string_view text, std::string_view part) { return text.find(part) != text.npos; };
  return has(known, "lite") ? has(label, "5p") : has(label, "lite") || has(label, "5e");
}

/// The known accelerator that `label` probably means; empty if none is similar. Another number is another generation,
/// not a typing error. Characters that `label` lacks are no difference; of those that are equally similar, slices come
/// before single devices, and then the one with fewer such characters.
std::string_view similar_accelerator(std::string_view label) {
  constexpr std::size_t kMaxLabelValue = 63;
  if (label.size() > kMaxLabelValue) return {};
  const std::string digits = digits_of(label);
  std::string_view best;
  std::tuple<std::size_t, bool, std::size_t> best_rank;
  for (const tpu::Accelerator& accelerator : tpu::accelerators()) {
    const std::string_view known = accelerator.label;
    if (digits_of(known) != digits || differ_in_variant(label, known)) continue;
    const std::size_t distance = edit_distance(label, known);
    if (distance >= known.size()) continue;
    const std::size_t lacking = known.size() - std::min(label.size(), known.size());
    const std::tuple rank{distance - lacking, known.ends_with("-device"), distance};
    if (!best.empty() && rank >= best_rank) continue;
    best = known;
    best_rank = rank;
  }
  return best;
}

std::string warning_of(const std::string& path, std::string accelerator) {
  return fmt::format(
      "{}spec.nodeSelector[{}]: accelerator \"{}\" is unknown to tpu-slice-operator, which leaves these pods to the "
      "scheduler",
      path, tpu::kAcceleratorLabel, clip(std::move(accelerator), kMaxWarnedValue));
}

/// Adds a warning about the accelerator of the pod, if it is unknown. `similar`: the first known one that is similar.
void add_warning_of_pod(const Json& pod, const std::string& path, std::vector<std::string>& warnings,
                        std::string_view& similar) {
  std::string unknown = tpu::unknown_accelerator(pod);
  if (unknown.empty()) return;
  if (similar.empty()) similar = similar_accelerator(unknown);
  warnings.push_back(warning_of(path, std::move(unknown)));
}

void add_known_accelerators(std::string_view similar, std::vector<std::string>& warnings) {
  if (warnings.empty()) return;
  if (!similar.empty()) warnings.push_back(fmt::format("did you mean {}?", similar));
  warnings.push_back(known_accelerators());
}

}  // namespace

std::vector<std::string> warn_unknown_accelerators(const Json& object) {
  std::vector<std::string> warnings;
  std::string_view similar;
  for_each_tpu_pod(object, [&](const Json& pod, const std::string& path) {
    add_warning_of_pod(pod, path, warnings, similar);
    return warnings.size() < kMaxPodWarnings;
  });
  add_known_accelerators(similar, warnings);
  return warnings;
}

std::vector<std::string> warn_unknown_accelerator_of_pod(const Json& pod) {
  std::vector<std::string> warnings;
  std::string_view similar;
  add_warning_of_pod(pod, "", warnings, similar);
  add_known_accelerators(similar, warnings);
  return warnings;
}

}  // namespace tpuslice::rules

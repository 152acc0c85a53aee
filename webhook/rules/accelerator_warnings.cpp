#include "webhook/rules/accelerator_warnings.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/types/utf8.h"
#include "tpu/catalog.h"
#include "tpu/labels.h"
#include "tpu/slice_shape.h"
#include "webhook/rules/tpu_rules.h"

namespace tpuslice::webhook {
namespace {

constexpr std::size_t kMaxWarnings = 4;
/// Keeps a warning with the longest path below 256 bytes, where the API server cuts it.
constexpr std::size_t kMaxNameLength = 40;
/// Longer keys are no fields; their subtrees would each have a long path.
constexpr std::size_t kMaxFieldLength = 64;
/// Of a pod template: spec.replicatedJobs[0].template.spec.template has 6.
constexpr int kMaxDepth = 8;

std::string known_accelerators() {
  std::vector<std::string_view> labels;
  for (const tpu::Accelerator& accelerator : tpu::accelerators()) labels.push_back(accelerator.label);
  return fmt::format("the accelerators that tpu-slice-operator knows are {}", fmt::join(labels, ", "));
}

std::string warning_of(const std::string& path, std::string accelerator) {
  return fmt::format(
      "{}spec.nodeSelector[{}]: accelerator \"{}\" is unknown to tpu-slice-operator, which leaves these pods to the "
      "scheduler",
      path, tpu::kAcceleratorLabel, clip(std::move(accelerator), kMaxNameLength));
}

/// `path` is that of `json`, with a dot at its end unless it is empty.
void visit(const Json& json, const std::string& path, int depth, std::vector<std::string>& warnings) {
  if (depth > kMaxDepth || warnings.size() == kMaxWarnings) return;
  if (find_path(json, {"spec", "containers"}) != nullptr) {
    std::string unknown = tpu::unknown_accelerator(json);
    if (!unknown.empty() && asks_for_tpus(json)) warnings.push_back(warning_of(path, std::move(unknown)));
    return;
  }
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items()) {
    if (key == "metadata" || key == "status" || key.size() > kMaxFieldLength) continue;
    if (value.is_object()) visit(value, fmt::format("{}{}.", path, key), depth + 1, warnings);
    if (!value.is_array()) continue;
    for (std::size_t index = 0; index < value.size(); ++index) {
      if (!value[index].is_object()) break;
      visit(value[index], fmt::format("{}{}[{}].", path, key, index), depth + 2, warnings);
    }
  }
}

}  // namespace

std::vector<std::string> warn_unknown_accelerators(const Json& object) {
  std::vector<std::string> warnings;
  visit(object, "", 0, warnings);
  if (!warnings.empty()) warnings.push_back(known_accelerators());
  return warnings;
}

}  // namespace tpuslice::webhook

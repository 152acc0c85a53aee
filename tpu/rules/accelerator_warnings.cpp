#include "tpu/rules/pod_warnings.h"

#include <string_view>

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

std::string warning_of(const std::string& path, std::string accelerator) {
  return fmt::format(
      "{}spec.nodeSelector[{}]: accelerator \"{}\" is unknown to tpu-slice-operator, which leaves these pods to the "
      "scheduler",
      path, tpu::kAcceleratorLabel, clip(std::move(accelerator), kMaxWarnedValue));
}

void add_warning_of_pod(const Json& pod, const std::string& path, std::vector<std::string>& warnings) {
  std::string unknown = tpu::unknown_accelerator(pod);
  if (!unknown.empty()) warnings.push_back(warning_of(path, std::move(unknown)));
}

}  // namespace

std::vector<std::string> warn_unknown_accelerators(const Json& object) {
  std::vector<std::string> warnings;
  for_each_tpu_pod(object, [&](const Json& pod, const std::string& path) {
    add_warning_of_pod(pod, path, warnings);
    return warnings.size() < kMaxPodWarnings;
  });
  if (!warnings.empty()) warnings.push_back(known_accelerators());
  return warnings;
}

std::vector<std::string> warn_unknown_accelerator_of_pod(const Json& pod) {
  std::vector<std::string> warnings;
  add_warning_of_pod(pod, "", warnings);
  if (!warnings.empty()) warnings.push_back(known_accelerators());
  return warnings;
}

}  // namespace tpuslice::rules

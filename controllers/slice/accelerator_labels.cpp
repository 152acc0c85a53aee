#include "controllers/slice/accelerator_labels.h"

#include "tpu/catalog.h"

namespace tpuslice::slice {
namespace {

constexpr std::string_view kOtherAccelerator = "other";

}  // namespace

std::string accelerator_label(const std::string& accelerator) {
  return tpu::find_accelerator(accelerator).ok() ? accelerator : std::string(kOtherAccelerator);
}

std::vector<std::string_view> accelerator_labels() {
  std::vector<std::string_view> labels;
  for (const tpu::Accelerator& each : tpu::accelerators()) labels.push_back(each.label);
  labels.push_back(kOtherAccelerator);
  return labels;
}

}  // namespace tpuslice::slice

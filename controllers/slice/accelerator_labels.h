// The values of the label "accelerator" of metrics.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tpuslice::slice {

/// The accelerator, or "other" for one that is not in the catalog: users choose what their pods select.
[[nodiscard]] std::string accelerator_label(const std::string& accelerator);
/// All values.
[[nodiscard]] std::vector<std::string_view> accelerator_labels();

}  // namespace tpuslice::slice

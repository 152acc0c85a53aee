#include "fleet/workload_reference.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/base/strings.h"
#include "api/types/utf8.h"

namespace tpuslice::fleet {
namespace {

constexpr std::size_t kMaxReference = 100;

/// Short names and plurals that are no kind with an "s".
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kShortNames = {{{"lws", "leaderworkerset"},
                                                                                       {"sts", "statefulset"},
                                                                                       {"po", "pod"},
                                                                                       {"no", "node"},
                                                                                       {"js", "jobset"},
                                                                                       {"np", "pool"},
                                                                                       {"nodepool", "pool"}}};

std::string singular(std::string kind) {
  const auto* const found = std::ranges::find(kShortNames, kind, [](const auto& entry) { return entry.first; });
  if (found != kShortNames.end()) return std::string(found->second);
  if (kind.size() > 2 && kind.ends_with('s')) kind.pop_back();
  const auto* const again = std::ranges::find(kShortNames, kind, [](const auto& entry) { return entry.first; });
  return again == kShortNames.end() ? kind : std::string(again->second);
}

}  // namespace

Result<Reference> read_reference(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size() ||
      text.find('/', slash + 1) != std::string_view::npos) {
    return Error::invalid_argument("found \"{}\", expected <kind>/<name>, such as rayjob/train or pool/v6e-a",
                                   clip(std::string(text), kMaxReference));
  }
  std::string kind = to_lower(text.substr(0, slash));
  if (const std::size_t dot = kind.find('.'); dot != std::string::npos) kind.resize(dot);  // "jobset.jobset.x-k8s.io"
  return Reference{singular(std::move(kind)), std::string(text.substr(slash + 1))};
}

bool names(const Reference& reference, const WorkloadName& workload) {
  return reference.name == workload.name && reference.kind == singular(to_lower(workload.kind));
}

}  // namespace tpuslice::fleet

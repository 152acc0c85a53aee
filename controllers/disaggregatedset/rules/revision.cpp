#include "controllers/disaggregatedset/rules/revision.h"

#include "api/base/hash.h"
#include "api/types/json_text.h"
#include "controllers/disaggregatedset/rules/go_order.h"
#include "controllers/leaderworkerset/rules/normal_form.h"

namespace tpuslice::disaggregatedset {
namespace {

Json normal_template(const Json& role) {
  Json groups = leaderworkerset::normal_group_template(role);
  // Only upstream's webhook of LeaderWorkerSets replaces Default.
  if (const std::string policy = string_at(role, {"spec", "leaderWorkerTemplate", "restartPolicy"}); !policy.empty()) {
    groups["restartPolicy"] = policy;
  }
  return groups;
}

}  // namespace

std::string compute_revision(const DisaggregatedSetSpec& spec) {
  std::string text = "[";
  for (const RoleSpec& role : spec.roles) {
    if (text.size() > 1) text += ',';
    text += R"({"name":)";
    text += print_go_json(role.name);
    text += R"(,"template":)";
    text += print_group_template(normal_template(*role.json));
    text += '}';
  }
  text += ']';
  return sha256_hex(text).substr(0, kRevisionLength);
}

}  // namespace tpuslice::disaggregatedset

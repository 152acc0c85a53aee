// Checks of what is beside the operator: controllers of other projects, and the rights of the user.
#include <array>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "cmd/kubectl-tpu/checks/installation.h"
#include "cmd/kubectl-tpu/checks/types.h"
#include "cmd/kubectl-tpu/workload_pods.h"
#include "cmd/tpu-slice-operator/kinds.h"

namespace tpuslice::plugin {
namespace {

constexpr std::size_t kMaxLeases = 100;
constexpr std::int64_t kDefaultLease = 15;  ///< Seconds.

/// A right that commands need.
struct Right {
  std::string_view verb;
  std::string_view group;
  std::string_view resource;
  std::string_view subresource;
  bool in_namespace;
  std::string_view used_by;
};

constexpr std::array<Right, 6> kRights = {{
    {"list", "", "pods", "", true, "hosts, slices, explain"},
    {"get", "", "pods", "log", true, "logs"},
    {"create", "", "pods", "eviction", true, "restart, drain"},
    {"create", "", "services", "", true, "create job --apply"},
    {"list", "", "nodes", "", false, "pools, plan, what-if"},
    {"patch", "", "nodes", "", false, "drain, undrain"},
}};

bool is_live(const Object& lease, Timestamp now) {
  const auto renewed = parse_rfc3339(string_at(lease.json(), {"spec", "renewTime"}));
  const std::chrono::seconds duration(int_at(lease.json(), {"spec", "leaseDurationSeconds"}, kDefaultLease));
  return renewed && !string_at(lease.json(), {"spec", "holderIdentity"}).empty() && *renewed + 2 * duration > now;
}

Finding check_lease_of(const CheckInput& input, const kind::Upstream& upstream) {
  const std::string check = std::string(upstream.name);
  const auto leases = list_all(input.api, kLeases, {.field_selector = fmt::format("metadata.name={}", upstream.lease)},
                               kMaxLeases, input.stop);
  if (!leases) return finding_of(check, leases.error(), Verdict::kUnknown);
  for (const Object& lease : *leases) {
    if (!is_live(lease, input.now)) continue;
    return {check, Verdict::kWarning,
            fmt::format("runs in namespace {}: the operator leaves its kinds to it", lease.namespace_name()),
            "kubectl tpu migrate check"};
  }
  return {check, Verdict::kOk, "does not run"};
}

Finding check_right(const CheckInput& input, const Right& right) {
  const std::string what =
      fmt::format("{} {}{}{}", right.verb, right.resource, right.subresource.empty() ? "" : "/", right.subresource);
  const std::string check = "right";
  Json attributes = {{"verb", right.verb}, {"group", right.group}, {"resource", right.resource}};
  if (!right.subresource.empty()) attributes["subresource"] = right.subresource;
  if (right.in_namespace) attributes["namespace"] = input.namespace_name;
  const Json review = {{"apiVersion", kSelfReviews.api_version()},
                       {"kind", kSelfReviews.kind},
                       {"spec", {{"resourceAttributes", attributes}}}};
  const auto answer = input.api.create(kSelfReviews, Object(review), {}, input.stop);
  if (!answer) return finding_of(check, answer.error(), Verdict::kUnknown);
  const std::string where = right.in_namespace ? " in namespace " + input.namespace_name : std::string();
  if (bool_at(answer->json(), {"status", "allowed"})) return {check, Verdict::kOk, "you may " + what + where};
  const std::string_view role = right.resource == "nodes" && right.verb == "list" ? "tpu-slice-fleet" : "edit";
  return {
      check, Verdict::kWarning, fmt::format("you may not {}{}, which {} need", what, where, right.used_by),
      right.in_namespace
          ? fmt::format("kubectl create rolebinding NAME -n {} --clusterrole={} --user=YOU", input.namespace_name, role)
      : role == "tpu-slice-fleet" ? "kubectl create clusterrolebinding NAME --clusterrole=tpu-slice-fleet --user=YOU"
                                  : ""};
}

}  // namespace

std::vector<Finding> check_upstream(const CheckInput& input) {
  std::vector<Finding> found;
  std::set<std::string_view> seen;
  for (const kind::Kind* each : kinds()) {
    if (each->upstream.exists() && seen.insert(each->upstream.lease).second) {
      found.push_back(check_lease_of(input, each->upstream));
    }
  }
  return found;
}

std::vector<Finding> check_rights(const CheckInput& input) {
  std::vector<Finding> found;
  for (const Right& right : kRights) {
    found.push_back(check_right(input, right));
    if (found.back().verdict == Verdict::kUnknown) break;  // The others would say the same.
  }
  return found;
}

}  // namespace tpuslice::plugin

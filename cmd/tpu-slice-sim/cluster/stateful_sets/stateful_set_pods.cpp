#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_pods.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "cmd/tpu-slice-sim/cluster/owners.h"
#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_claims.h"

namespace tpuslice::sim {

namespace {

constexpr const char* kRevisionLabel = "controller-revision-hash";
constexpr const char* kNameLabel = "statefulset.kubernetes.io/pod-name";
constexpr const char* kIndexLabel = "apps.kubernetes.io/pod-index";

Json& labels_of(Json& pod) {
  Json& labels = pod["metadata"]["labels"];
  if (!labels.is_object()) labels = Json::object();
  return labels;
}

std::optional<Timestamp> ready_since(const Json& pod) {
  for (const Json& condition : array_at(pod, {"status", "conditions"})) {
    if (string_at(condition, {"type"}) != "Ready" || string_at(condition, {"status"}) != "True") continue;
    return parse_rfc3339(string_at(condition, {"lastTransitionTime"}));
  }
  return std::nullopt;
}

}  // namespace

Json make_stateful_pod(const Json& set, const Json& pods, int ordinal, const std::string& revision) {
  const std::string name = string_at(set, {"metadata", "name"});
  Json metadata = {{"name", fmt::format("{}-{}", name, ordinal)},
                   {"generateName", name + "-"},
                   {"namespace", string_at(set, {"metadata", "namespace"})},
                   {"ownerReferences", Json::array({controller_reference(set)})}};
  for (const char* field : {"labels", "annotations", "finalizers"}) {
    if (const Json* given = find_path(pods, {"metadata", field})) metadata[field] = *given;
  }
  Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata}, {"spec", pods.at("spec")}};
  correct_identity(set, pod);
  labels_of(pod)[kRevisionLabel] = revision;
  pod["spec"]["hostname"] = pod["metadata"]["name"];
  pod["spec"].erase("subdomain");
  if (const std::string service = string_at(set, {"spec", "serviceName"}); !service.empty()) {
    pod["spec"]["subdomain"] = service;
  }
  correct_volumes(set, pod);
  return pod;
}

std::optional<int> ordinal_of(const Json& set, const Json& pod) {
  const std::string prefix = string_at(set, {"metadata", "name"}) + "-";
  const std::string name = string_at(pod, {"metadata", "name"});
  if (!name.starts_with(prefix)) return std::nullopt;
  return parse_count(std::string_view(name).substr(prefix.size()));
}

int first_ordinal(const Json& set) { return static_cast<int>(int_at(set, {"spec", "ordinals", "start"})); }

int desired_replicas(const Json& set) { return static_cast<int>(int_at(set, {"spec", "replicas"}, 1)); }

bool in_range(const Json& set, int ordinal) {
  const int first = first_ordinal(set);
  return ordinal >= first && ordinal - first < desired_replicas(set);
}

std::string pod_revision(const Json& pod) { return string_at(pod, {"metadata", "labels", kRevisionLabel}); }

bool identity_matches(const Json& pod) {
  return string_at(pod, {"metadata", "labels", kNameLabel}) == string_at(pod, {"metadata", "name"});
}

bool volumes_match(const Json& set, const Json& pod) {
  const Json& volumes = array_at(pod, {"spec", "volumes"});
  const std::vector<ClaimName> claims = claim_names(set, *ordinal_of(set, pod));
  return std::all_of(claims.begin(), claims.end(), [&volumes](const ClaimName& claim) {
    return std::any_of(volumes.begin(), volumes.end(), [&claim](const Json& volume) {
      return string_at(volume, {"name"}) == claim.volume &&
             string_at(volume, {"persistentVolumeClaim", "claimName"}) == claim.name;
    });
  });
}

void correct_identity(const Json& set, Json& pod) {
  Json& labels = labels_of(pod);
  labels[kNameLabel] = string_at(pod, {"metadata", "name"});
  labels[kIndexLabel] = std::to_string(*ordinal_of(set, pod));
}

void correct_volumes(const Json& set, Json& pod) {
  const std::vector<ClaimName> claims = claim_names(set, *ordinal_of(set, pod));
  if (claims.empty()) return;
  Json volumes = Json::array();
  for (const ClaimName& claim : claims) {
    volumes.push_back({{"name", claim.volume}, {"persistentVolumeClaim", {{"claimName", claim.name}}}});
  }
  for (const Json& volume : array_at(pod, {"spec", "volumes"})) {
    const std::string name = string_at(volume, {"name"});
    const bool replaced =
        std::any_of(claims.begin(), claims.end(), [&name](const ClaimName& claim) { return claim.volume == name; });
    if (!replaced) volumes.push_back(volume);
  }
  pod["spec"]["volumes"] = std::move(volumes);
}

bool pod_created(const Json& pod) { return !string_at(pod, {"status", "phase"}).empty(); }

bool running_and_ready(const Json& pod) {
  return string_at(pod, {"status", "phase"}) == "Running" && condition_status(pod, "Ready") == "True";
}

bool pod_available(const Json& set, const Json& pod, Timestamp now) {
  if (condition_status(pod, "Ready") != "True") return false;
  const std::int64_t seconds = int_at(set, {"spec", "minReadySeconds"});
  if (seconds == 0) return true;
  const auto since = ready_since(pod);
  return since && *since + std::chrono::seconds(seconds) <= now;
}

std::optional<Duration> until_available(const Json& set, const Json& pod, Timestamp now) {
  const auto since = ready_since(pod);
  if (!since || pod_available(set, pod, now)) return std::nullopt;
  return *since + std::chrono::seconds(int_at(set, {"spec", "minReadySeconds"})) - now;
}

}  // namespace tpuslice::sim

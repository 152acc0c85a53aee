#include "controllers/rayservice/serve_labels.h"

#include <algorithm>

#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/rules/rayservice_labels.h"
#include "tpu/labels.h"

namespace tpuslice::rayservice {
namespace {

std::optional<bool> head_serves(const Cluster& cluster, const Serving& serving, const plan::WorkloadAnswers& answers,
                                bool exclude_head) {
  if (exclude_head) return false;
  const std::optional<plan::WorkloadRequest> request = proxy_request(cluster);
  if (!request) return std::nullopt;
  const plan::WorkloadAnswer* answer = answers.to(*request);
  if (answer == nullptr) return std::nullopt;
  // If the dashboard of the same pod does not answer either, the operator itself may have no network.
  if (answer->status == 0 && !serving.current) return std::nullopt;
  return answer->ok();
}

bool is_multi_host(const Cluster& cluster, const PodView& pod) {
  const raycluster::WorkerGroup* group = cluster.spec.group(pod.label(raycluster::kRayGroup));
  return group != nullptr && group->hosts > 1;
}

std::optional<bool> host_serves(const PodView& pod, const Serving& serving) {
  if (!serving.info || pod.pod_ip.empty()) return std::nullopt;
  return std::ranges::binary_search(serving.info->proxies, pod.pod_ip);
}

}  // namespace

std::int64_t serve_port(const Cluster& cluster) {
  const Json* pod = cluster.spec.head.pod_template;
  if (pod == nullptr) return raycluster::kServePort;
  for (const Json& port : array_at(*pod, {"spec", "containers", "0", "ports"})) {
    if (string_at(port, {"name"}) == "serve") return int_at(port, {"containerPort"}, raycluster::kServePort);
  }
  return raycluster::kServePort;
}

std::optional<plan::WorkloadRequest> proxy_request(const Cluster& cluster) {
  if (cluster.head == nullptr || cluster.head->phase != PodPhase::kRunning || cluster.head->pod_ip.empty()) return {};
  const ServeRecord record = ServeRecord::parse(cluster.annotation(kServeConfig));
  if (record.hash.empty()) return {};
  plan::WorkloadRequest out;
  out.name = "proxy/" + cluster.name();
  const std::string& ip = cluster.head->pod_ip;
  const bool ipv6 = ip.find(':') != std::string::npos;
  out.address = fmt::format("{}{}{}:{}", ipv6 ? "[" : "", ip, ipv6 ? "]" : "", serve_port(cluster));
  out.target = "/-/healthz";
  out.interval = kPollInterval;
  // Until the configuration is accepted there is no proxy, and failures back off. Then a new request is due at once.
  out.attempt = 2 * record.attempt + (record.accepted ? 1 : 0);
  return out;
}

std::vector<ServeLabel> decide_serve_labels(const Cluster& cluster, const Serving& serving,
                                            const plan::WorkloadAnswers& answers, bool exclude_head) {
  std::vector<ServeLabel> out;
  for (const PodPtr& pod : cluster.pods) {
    if (pod->terminating() || pod->finished()) continue;
    const bool head = pod == cluster.head;
    if (!head && !is_multi_host(cluster, *pod)) continue;
    const std::optional<bool> serves =
        head ? head_serves(cluster, serving, answers, exclude_head) : host_serves(*pod, serving);
    if (serves && pod->label(raycluster::kServe) != (*serves ? "true" : "false")) out.push_back({pod, *serves});
  }
  return out;
}

}  // namespace tpuslice::rayservice

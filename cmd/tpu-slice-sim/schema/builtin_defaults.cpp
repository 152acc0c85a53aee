#include "api/base/base64.h"
#include "cmd/tpu-slice-sim/schema/builtin.h"
#include "cmd/tpu-slice-sim/schema/defaulting.h"

namespace tpuslice::sim {
namespace {

constexpr std::int32_t kMaxRetries = 2147483647;

/// `parent`: a spec, or a PodTemplate.
void default_template(Json& parent) {
  Json* pods = object_in(parent, "template");
  if (pods == nullptr) return;
  if (Json* pod_spec = object_in(*pods, "spec"); pod_spec != nullptr) default_pod_spec(*pod_spec);
}

/// Copies the labels of the template if the object has none.
void default_labels(Json& object) {
  const Json* labels = find_path(object, {"spec", "template", "metadata", "labels"});
  if (labels == nullptr || !string_map_at(object, {"metadata", "labels"}).empty()) return;
  if (Json* meta = object_in(object, "metadata"); meta != nullptr) (*meta)["labels"] = *labels;
}

void default_job(Json& job, Json& spec) {
  if (!spec.contains("completions") && !spec.contains("parallelism")) spec["completions"] = 1;
  set_default(spec, "parallelism", 1);
  set_default(spec, "backoffLimit", spec.contains("backoffLimitPerIndex") ? kMaxRetries : 6);
  set_default(spec, "completionMode", "NonIndexed");
  set_default(spec, "suspend", false);
  set_default(spec, "podReplacementPolicy", spec.contains("podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
  if (spec.contains("podFailurePolicy")) {
    for_each_in(spec["podFailurePolicy"], "rules", [](Json& rule) {
      for_each_in(rule, "onPodConditions", [](Json& pattern) { set_default(pattern, "status", "True"); });
    });
  }
  default_template(spec);
  set_default(spec, "manualSelector", false);
  default_labels(job);
}

void default_stateful_set(Json& /*object*/, Json& spec) {
  set_default(spec, "replicas", 1);
  set_default(spec, "podManagementPolicy", "OrderedReady");
  set_default(spec, "revisionHistoryLimit", 10);
  if (Json* strategy = object_in(spec, "updateStrategy"); strategy != nullptr) {
    // A strategy with a type only gets no defaults.
    const bool given = strategy->contains("type") && !strategy->contains("rollingUpdate");
    set_default(*strategy, "type", "RollingUpdate");
    Json* rolling =
        given || string_at(*strategy, {"type"}) != "RollingUpdate" ? nullptr : object_in(*strategy, "rollingUpdate");
    if (rolling != nullptr) set_default(*rolling, "partition", 0);
  }
  if (Json* retention = object_in(spec, "persistentVolumeClaimRetentionPolicy"); retention != nullptr) {
    set_default(*retention, "whenDeleted", "Retain");
    set_default(*retention, "whenScaled", "Retain");
  }
  for_each_in(spec, "volumeClaimTemplates", [](Json& claim) {
    set_default(claim, "apiVersion", "v1");
    set_default(claim, "kind", "PersistentVolumeClaim");
    if (Json* claim_spec = object_in(claim, "spec"); claim_spec != nullptr) {
      set_default(*claim_spec, "volumeMode", "Filesystem");
    }
    if (Json* status = object_in(claim, "status"); status != nullptr) set_default(*status, "phase", "Pending");
  });
  default_template(spec);
}

void default_service(Json& /*object*/, Json& spec) {
  set_default(spec, "type", "ClusterIP");
  set_default(spec, "sessionAffinity", "None");
  const std::string type = string_at(spec, {"type"});
  for_each_in(spec, "ports", [](Json& port) {
    set_default(port, "protocol", "TCP");
    if (port.contains("port")) set_default(port, "targetPort", port["port"]);
  });
  if (string_at(spec, {"sessionAffinity"}) == "ClientIP") {
    set_default(spec, "sessionAffinityConfig", Json({{"clientIP", {{"timeoutSeconds", 10800}}}}));
  }
  if (type == "ExternalName") return;
  set_default(spec, "internalTrafficPolicy", "Cluster");
  set_default(spec, "ipFamilies", Json::array({"IPv4"}));
  set_default(spec, "ipFamilyPolicy", "SingleStack");
  if (type == "NodePort" || type == "LoadBalancer") set_default(spec, "externalTrafficPolicy", "Cluster");
  if (type == "LoadBalancer") set_default(spec, "allocateLoadBalancerNodePorts", true);
  if (const std::string address = string_at(spec, {"clusterIP"}); !address.empty()) {
    set_default(spec, "clusterIPs", Json::array({address}));
  }
}

void default_volume_claim(Json& object, Json& spec) {
  set_default(spec, "volumeMode", "Filesystem");
  if (Json* status = object_in(object, "status"); status != nullptr) set_default(*status, "phase", "Pending");
}

void default_webhooks(Json& object, bool mutating) {
  for_each_in(object, "webhooks", [mutating](Json& webhook) {
    set_default(webhook, "failurePolicy", "Fail");
    set_default(webhook, "matchPolicy", "Equivalent");
    set_default(webhook, "namespaceSelector", Json::object());
    set_default(webhook, "objectSelector", Json::object());
    set_default(webhook, "timeoutSeconds", 10);
    if (mutating) set_default(webhook, "reinvocationPolicy", "Never");
    for_each_in(webhook, "rules", [](Json& rule) { set_default(rule, "scope", "*"); });
    const auto config = webhook.find("clientConfig");
    if (config == webhook.end() || !config->is_object()) return;
    const auto service = config->find("service");
    if (service != config->end() && service->is_object()) set_default(*service, "port", 443);
  });
}

/// Moves stringData into data.
void default_secret(Json& secret) {
  set_default(secret, "type", "Opaque");
  const auto plain = secret.find("stringData");
  if (plain == secret.end() || !plain->is_object()) return;
  const Json texts = *plain;
  secret.erase("stringData");
  Json* data = object_in(secret, "data");
  if (data == nullptr) return;
  for (const auto& [name, text] : texts.items()) {
    if (text.is_string()) (*data)[name] = encode_base64(text.get_ref<const std::string&>());
  }
}

/// Fields that the API server always writes; a missing time is null.
void default_event(Json& event, bool core) {
  for (const char* time : {"FirstTimestamp", "LastTimestamp"}) {
    std::string name = core ? time : std::string("deprecated") + time;
    if (core) name.front() = static_cast<char>(name.front() - 'A' + 'a');
    if (!event.contains(name)) event[name] = nullptr;
  }
  if (!event.contains("eventTime")) event["eventTime"] = nullptr;
  set_default(event, core ? "source" : "deprecatedSource", Json::object());
  if (!core) return;
  set_default(event, "reportingComponent", "");
  set_default(event, "reportingInstance", "");
}

using SpecDefaults = void (*)(Json& object, Json& spec);

SpecDefaults spec_defaults(std::string_view kind) {
  static const std::map<std::string_view, SpecDefaults> kByKind = {
      {"Job", default_job},
      {"StatefulSet", default_stateful_set},
      {"Service", default_service},
      {"PersistentVolumeClaim", default_volume_claim},
  };
  const auto found = kByKind.find(kind);
  return found == kByKind.end() ? nullptr : found->second;
}

}  // namespace

void default_builtin(const Resource& resource, Json& object) {
  if (resource.custom || !object.is_object()) return;
  const std::string& kind = resource.kind;
  if (kind == "Pod") return default_new_pod(object);
  if (kind == "PodTemplate") return default_template(object);
  if (kind == "Secret") return default_secret(object);
  if (kind == "Event") return default_event(object, resource.group.empty());
  if (kind == "PriorityClass") return set_default(object, "preemptionPolicy", "PreemptLowerPriority");
  if (kind == "MutatingWebhookConfiguration") return default_webhooks(object, true);
  if (kind == "ValidatingWebhookConfiguration") return default_webhooks(object, false);
  const SpecDefaults defaults = spec_defaults(kind);
  Json* spec = defaults == nullptr ? nullptr : object_in(object, "spec");
  if (spec != nullptr) defaults(object, *spec);
}

}  // namespace tpuslice::sim

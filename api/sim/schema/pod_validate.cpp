#include <algorithm>
#include <set>

#include "api/sim/schema/builtin_checks.h"
#include "api/types/quantity.h"

namespace tpuslice::sim {
namespace {

bool is_standard(const std::string& resource) {
  static const std::set<std::string, std::less<>> kStandard = {"cpu", "memory", "ephemeral-storage", "storage"};
  return kStandard.contains(resource) || resource.starts_with("hugepages-");
}

/// "google.com/tpu": counted in whole units and never overcommitted.
bool is_extended(const std::string& resource) {
  return resource.find('/') != std::string::npos && resource.find("kubernetes.io/") == std::string::npos &&
         !resource.starts_with("requests.");
}

void check_amount(Problems& problems, const FieldPath& path, const std::string& name, const Json& amount) {
  if (!is_standard(name)) {
    check_name(problems, path, name, check_label_key(name));
    if (name.find('/') == std::string::npos) {
      problems.invalid(path, name, "must be a standard resource type or fully qualified");
    }
  }
  const Result<Quantity> parsed = Quantity::from_json(amount);
  if (!parsed) return problems.invalid(path, amount, parsed.error().message());
  if (*parsed < Quantity(0)) problems.invalid(path, amount, "must be greater than or equal to 0");
  if (is_extended(name) && !(*parsed == Quantity(parsed->value())))
    problems.invalid(path, amount, "must be an integer");
}

void check_resources(Problems& problems, const FieldPath& path, const Json& resources) {
  const Json& limits = map_at(resources, "limits");
  const Json& requests = map_at(resources, "requests");
  const FieldPath limits_path = path.member("limits");
  const FieldPath requests_path = path.member("requests");
  for (const auto& [name, amount] : limits.items()) {
    check_amount(problems, limits_path.key(name), name, amount);
  }
  for (const auto& [name, amount] : requests.items()) {
    check_amount(problems, requests_path.key(name), name, amount);
    const Result<Quantity> request = Quantity::from_json(amount);
    const auto found = limits.find(name);
    if (found == limits.end()) {
      if (is_extended(name)) problems.required(limits_path, "Limit must be set for non overcommitable resources");
      continue;
    }
    const Result<Quantity> limit = Quantity::from_json(*found);
    if (!request || !limit) continue;
    if (is_extended(name) && !(*request == *limit)) {
      problems.invalid(requests_path, amount, fmt::format("must be equal to {} limit of {}", name, limit->to_string()));
    } else if (*request > *limit) {
      problems.invalid(requests_path, amount,
                       fmt::format("must be less than or equal to {} limit of {}", name, limit->to_string()));
    }
  }
}

void check_env(Problems& problems, const FieldPath& path, const Json& env) {
  for (std::size_t i = 0; i < env.size(); ++i) {
    const FieldPath at = path.item(i);
    const std::string name = string_at(env[i], {"name"});
    if (name.empty()) problems.required(at.member("name"));
    if (name.find('=') != std::string::npos) {
      problems.invalid(at.member("name"), name, "environment variable name must not contain '='");
    }
    const Json& source = map_at(env[i], "valueFrom");
    if (source.empty()) continue;
    if (!string_at(env[i], {"value"}).empty()) {
      problems.invalid(at.member("valueFrom"), "", "may not be specified when `value` is not empty");
    }
    if (source.size() > 1) {
      problems.invalid(at.member("valueFrom"), "", "may not have more than one field specified at a time");
    }
    if (source.contains("fieldRef") && string_at(source, {"fieldRef", "fieldPath"}).empty()) {
      problems.required(at.member("valueFrom").member("fieldRef").member("fieldPath"));
    }
  }
}

void check_ports(Problems& problems, const FieldPath& path, const Json& ports, std::set<std::string>& host_ports) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const FieldPath at = path.item(i);
    const Json& port = ports[i];
    if (const std::string name = string_at(port, {"name"}); !name.empty()) {
      check_port(problems, at.member("name"), name, true);
      if (!names.insert(name).second) problems.duplicate(at.member("name"), name);
    }
    check_port(problems, at.member("containerPort"), port.at("containerPort"), false);
    check_choice(problems, at, port, "protocol", {"SCTP", "TCP", "UDP"});
    const auto host = port.find("hostPort");
    if (host == port.end() || *host == Json(0)) continue;
    check_port(problems, at.member("hostPort"), *host, false);
    const std::string key =
        fmt::format("{}/{}/{}", string_at(port, {"protocol"}), string_at(port, {"hostIP"}), host->dump());
    if (!host_ports.insert(key).second) problems.duplicate(at.member("hostPort"), key);
  }
}

void check_mounts(Problems& problems, const FieldPath& path, const Json& mounts, const std::set<std::string>& volumes) {
  std::set<std::string> places;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const FieldPath at = path.item(i);
    const std::string name = string_at(mounts[i], {"name"});
    if (name.empty()) {
      problems.required(at.member("name"));
    } else if (!volumes.contains(name)) {
      problems.not_found(at.member("name"), name);
    }
    const std::string place = string_at(mounts[i], {"mountPath"});
    if (place.empty()) {
      problems.required(at.member("mountPath"));
    } else if (!places.insert(place).second) {
      problems.invalid(at.member("mountPath"), place, "must be unique");
    }
  }
}

void check_probe(Problems& problems, const FieldPath& path, const Json& probe, bool once) {
  std::size_t handlers = 0;
  for (const char* name : {"exec", "httpGet", "tcpSocket", "grpc"}) handlers += probe.contains(name) ? 1U : 0U;
  if (handlers == 0) problems.required(path, "must specify a handler type");
  if (handlers > 1) problems.forbidden(path, "may not specify more than 1 handler type");
  for (const char* name :
       {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"}) {
    const auto found = probe.find(name);
    if (found != probe.end() && *found < Json(0)) {
      problems.invalid(path.member(name), *found, "must be greater than or equal to 0");
    }
  }
  for (const char* name : {"httpGet", "tcpSocket", "grpc"}) {
    if (const Json* port = find_path(probe, {name, "port"}); port != nullptr) {
      check_port(problems, path.member(name).member("port"), *port, true);
    }
  }
  const auto successes = probe.find("successThreshold");
  if (once && successes != probe.end() && *successes != Json(1)) {
    problems.invalid(path.member("successThreshold"), *successes, "must be 1");
  }
}

struct Seen {
  std::set<std::string> names;
  std::set<std::string> volumes;
  std::set<std::string> host_ports;
};

void check_container(Problems& problems, const FieldPath& path, const Json& container, Seen& seen) {
  const std::string name = string_at(container, {"name"});
  if (name.empty()) {
    problems.required(path.member("name"));
  } else {
    check_name(problems, path.member("name"), name, check_dns1123_label(name));
    if (!seen.names.insert(name).second) problems.duplicate(path.member("name"), name);
  }
  const std::string image = string_at(container, {"image"});
  if (image.empty()) problems.required(path.member("image"));
  if (!image.empty() && (image.front() == ' ' || image.back() == ' ')) {
    problems.invalid(path.member("image"), image, "must not have leading or trailing whitespace");
  }
  check_choice(problems, path, container, "imagePullPolicy", {"Always", "IfNotPresent", "Never"});
  check_choice(problems, path, container, "terminationMessagePolicy", {"FallbackToLogsOnError", "File"});
  check_env(problems, path.member("env"), list_at(container, "env"));
  check_ports(problems, path.member("ports"), list_at(container, "ports"), seen.host_ports);
  check_mounts(problems, path.member("volumeMounts"), list_at(container, "volumeMounts"), seen.volumes);
  check_resources(problems, path.member("resources"), map_at(container, "resources"));
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const auto found = container.find(probe);
    const bool once = std::string_view(probe) != "readinessProbe";
    if (found != container.end()) check_probe(problems, path.member(probe), *found, once);
  }
}

void check_init_container(Problems& problems, const FieldPath& path, const Json& container) {
  const bool sidecar = string_at(container, {"restartPolicy"}) == "Always";
  check_choice(problems, path, container, "restartPolicy", {"Always"});
  if (sidecar) return;
  for (const char* name : {"livenessProbe", "readinessProbe", "startupProbe", "lifecycle"}) {
    if (container.contains(name))
      problems.forbidden(path.member(name), "may not be set for init containers without restartPolicy=Always");
  }
}

void check_volumes(Problems& problems, const FieldPath& path, const Json& volumes, Seen& seen) {
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const FieldPath at = path.item(i);
    const std::string name = string_at(volumes[i], {"name"});
    check_name(problems, at.member("name"), name, check_dns1123_label(name));
    if (!seen.volumes.insert(name).second) problems.duplicate(at.member("name"), name);
    if (volumes[i].size() == 1) problems.required(at, "must specify a volume type");
    if (volumes[i].size() > 2) problems.forbidden(at, "may not specify more than 1 volume type");
    const Json* size = find_path(volumes[i], {"emptyDir", "sizeLimit"});
    if (size == nullptr) continue;
    if (const Result<Quantity> parsed = Quantity::from_json(*size); !parsed) {
      problems.invalid(at.member("emptyDir").member("sizeLimit"), *size, parsed.error().message());
    }
  }
}

}  // namespace

void check_containers(Problems& problems, const FieldPath& path, const Json& spec) {
  Seen seen;
  check_volumes(problems, path.member("volumes"), list_at(spec, "volumes"), seen);
  const Json& containers = list_at(spec, "containers");
  const FieldPath list = path.member("containers");
  if (containers.empty()) problems.required(list);
  for (std::size_t i = 0; i < containers.size(); ++i) check_container(problems, list.item(i), containers[i], seen);
  const Json& init = list_at(spec, "initContainers");
  const FieldPath init_list = path.member("initContainers");
  seen.host_ports.clear();  // Init containers do not run beside the others.
  for (std::size_t i = 0; i < init.size(); ++i) {
    check_container(problems, init_list.item(i), init[i], seen);
    check_init_container(problems, init_list.item(i), init[i]);
  }
}

void check_pod_spec(Problems& problems, const FieldPath& path, const Json& spec) {
  check_containers(problems, path, spec);
  check_choice(problems, path, spec, "restartPolicy", {"Always", "OnFailure", "Never"});
  check_choice(problems, path, spec, "dnsPolicy", {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"});
  check_choice(problems, path, spec, "preemptionPolicy", {"Never", "PreemptLowerPriority"});
  for (const char* name : {"hostname", "subdomain"}) {
    const std::string value = string_at(spec, {name});
    if (!value.empty()) check_name(problems, path.member(name), value, check_dns1123_label(value));
  }
  for (const char* name : {"serviceAccountName", "nodeName", "priorityClassName"}) {
    const std::string value = string_at(spec, {name});
    if (!value.empty()) check_name(problems, path.member(name), value, check_dns1123_subdomain(value));
  }
  if (const Json* seconds = find_path(spec, {"activeDeadlineSeconds"}); seconds != nullptr && *seconds < Json(1)) {
    problems.invalid(path.member("activeDeadlineSeconds"), *seconds, "must be between 1 and 2147483647, inclusive");
  }
  if (const Json* grace = find_path(spec, {"terminationGracePeriodSeconds"}); grace != nullptr && *grace < Json(0)) {
    problems.invalid(path.member("terminationGracePeriodSeconds"), *grace, "must be greater than or equal to 0");
  }
  check_pod_scheduling(problems, path, spec);
}

}  // namespace tpuslice::sim

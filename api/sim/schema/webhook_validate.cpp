#include <algorithm>
#include <set>

#include "api/sim/schema/builtin_checks.h"
#include "api/sim/schema/cel.h"

namespace tpuslice::sim {
namespace {

void check_client(Problems& problems, const FieldPath& path, const Json& config) {
  const std::string url = string_at(config, {"url"});
  const bool service = config.contains("service");
  if (url.empty() != service) return problems.required(path, "exactly one of url or service is required");
  if (service) {
    for (const char* name : {"namespace", "name"}) {
      if (string_at(config, {"service", name}).empty()) problems.required(path.member("service").member(name));
    }
    const std::string target = string_at(config, {"service", "path"}, "/");
    if (!target.starts_with('/'))
      problems.invalid(path.member("service").member("path"), target, "must start with a '/'");
  } else if (!url.starts_with("https://")) {
    problems.invalid(path.member("url"), url, "'https' is the only allowed URL scheme");
  }
}

void check_rules(Problems& problems, const FieldPath& path, const Json& rules) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const FieldPath at = path.item(i);
    for (const char* name : {"operations", "apiGroups", "apiVersions", "resources"}) {
      if (list_at(rules[i], name).empty()) problems.required(at.member(name));
    }
    const Json& operations = list_at(rules[i], "operations");
    const FieldPath list = at.member("operations");
    for (std::size_t j = 0; j < operations.size(); ++j) {
      static const std::set<std::string> kKnown = {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"};
      if (!kKnown.contains(operations[j].get<std::string>())) {
        problems.unsupported(list.item(j), operations[j], {kKnown.begin(), kKnown.end()});
      }
    }
    check_choice(problems, at, rules[i], "scope", {"*", "Cluster", "Namespaced"});
  }
}

void check_conditions(Problems& problems, const FieldPath& path, const Json& conditions) {
  std::set<std::string> names;
  if (conditions.size() > 64) {
    problems.add(path, "FieldValueTooMany", fmt::format("Too many: {}", conditions.size()),
                 "must have at most 64 items");
  }
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const FieldPath at = path.item(i);
    const std::string name = string_at(conditions[i], {"name"});
    check_name(problems, at.member("name"), name, check_label_key(name));
    if (!names.insert(name).second) problems.duplicate(at.member("name"), name);
    const std::string expression = string_at(conditions[i], {"expression"});
    if (expression.empty()) {
      problems.required(at.member("expression"));
      continue;
    }
    const auto parsed = cel::Expression::parse(expression, {"object", "oldObject", "request"});
    if (!parsed)
      problems.invalid(at.member("expression"), expression, "compilation failed: " + parsed.error().message());
  }
}

void check_webhook(Problems& problems, const FieldPath& path, const Json& webhook) {
  const std::string name = string_at(webhook, {"name"});
  check_name(problems, path.member("name"), name, check_dns1123_subdomain(name));
  if (std::count(name.begin(), name.end(), '.') < 2) {
    problems.invalid(path.member("name"), name, "should be a domain with at least three segments separated by dots");
  }
  check_client(problems, path.member("clientConfig"), map_at(webhook, "clientConfig"));
  check_rules(problems, path.member("rules"), list_at(webhook, "rules"));
  check_choice(problems, path, webhook, "failurePolicy", {"Fail", "Ignore"});
  check_choice(problems, path, webhook, "matchPolicy", {"Equivalent", "Exact"});
  check_choice(problems, path, webhook, "reinvocationPolicy", {"IfNeeded", "Never"});
  check_choice(problems, path, webhook, "sideEffects", {"None", "NoneOnDryRun"});
  const Json& versions = list_at(webhook, "admissionReviewVersions");
  if (std::find(versions.begin(), versions.end(), Json("v1")) == versions.end()) {
    problems.invalid(path.member("admissionReviewVersions"), versions, "must include at least one of v1");
  }
  if (const Json* timeout = find_path(webhook, {"timeoutSeconds"});
      timeout != nullptr && (*timeout < Json(1) || *timeout > Json(30))) {
    problems.invalid(path.member("timeoutSeconds"), *timeout, "the timeout value must be between 1 and 30 seconds");
  }
  for (const char* selector : {"namespaceSelector", "objectSelector"}) {
    check_label_selector(problems, path.member(selector), map_at(webhook, selector));
  }
  check_conditions(problems, path.member("matchConditions"), list_at(webhook, "matchConditions"));
}

}  // namespace

void check_webhook_configuration(Problems& problems, const Json& configuration) {
  const Json& webhooks = list_at(configuration, "webhooks");
  const FieldPath path("webhooks");
  std::set<std::string> names;
  for (std::size_t i = 0; i < webhooks.size(); ++i) {
    check_webhook(problems, path.item(i), webhooks[i]);
    const std::string name = string_at(webhooks[i], {"name"});
    if (!names.insert(name).second) problems.duplicate(path.item(i).member("name"), name);
  }
}

}  // namespace tpuslice::sim

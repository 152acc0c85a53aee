#include "cmd/tpu-slice-sim/table/builtin_columns.h"

#include <fmt/format.h>

#include "api/types/selector.h"
#include "cmd/tpu-slice-sim/table/age.h"

namespace tpuslice::sim {
namespace {

std::size_t size_at(const Json& object, std::initializer_list<std::string_view> path) {
  const Json* found = find_path(object, path);
  return found != nullptr && found->is_structured() ? found->size() : 0;
}

/// A number in a column of type string.
Column count_column(const char* name, std::function<std::int64_t(const Json&)> count) {
  Column column = number_column(name, std::move(count));
  column.type = "string";
  return column;
}

Column data_column() {
  return count_column("Data", [](const Json& object) {
    return static_cast<std::int64_t>(size_at(object, {"data"}) + size_at(object, {"binaryData"}));
  });
}

Column string_column(const char* name, std::vector<std::string> path, int priority = 0) {
  return text_column(
      name,
      [path = std::move(path)](const Json& object) {
        const Json* at = &object;
        for (const std::string& each : path) {
          at = find_path(*at, {each});
          if (at == nullptr) return std::string("<none>");
        }
        return at->is_string() ? at->get<std::string>() : at->dump();
      },
      priority);
}

/// "10.1.0.4,10.1.0.5": `text` of each item of a list of an EndpointSlice.
std::string slice_text(const Json& slice, const char* list, const std::function<std::string(const Json&)>& text) {
  std::string all;
  for (const Json& each : array_at(slice, {list})) all += (all.empty() ? "" : ",") + text(each);
  return all.empty() ? "<unset>" : all;
}

std::vector<Column> slice_columns() {
  return {name_column(), string_column("AddressType", {"addressType"}),
          text_column("Ports",
                      [](const Json& slice) {
                        return slice_text(slice, "ports", [](const Json& port) {
                          const Json* number = find_path(port, {"port"});
                          return number == nullptr ? std::string("*") : number->dump();
                        });
                      }),
          text_column("Endpoints",
                      [](const Json& slice) {
                        return slice_text(slice, "endpoints", [](const Json& endpoint) {
                          return string_at(endpoint, {"addresses", "0"});
                        });
                      }),
          age_column()};
}

Column webhooks_column() {
  return number_column("Webhooks",
                       [](const Json& object) { return static_cast<std::int64_t>(size_at(object, {"webhooks"})); });
}

}  // namespace

std::string or_none(std::string text) { return text.empty() ? "<none>" : std::move(text); }

Column name_column() {
  Column column;
  column.name = "Name";
  column.format = "name";
  column.description = "Name must be unique within a namespace.";
  column.cell = [](const Json& object, Timestamp) { return Json(string_at(object, {"metadata", "name"})); };
  return column;
}

Column age_column() {
  Column column;
  column.name = "Age";
  column.description = "CreationTimestamp is a timestamp representing the server time when this object was created.";
  column.cell = [](const Json& object, Timestamp now) {
    return Json(age_at(object, {"metadata", "creationTimestamp"}, now));
  };
  return column;
}

Column text_column(std::string name, std::function<std::string(const Json&)> text, int priority) {
  Column column;
  column.name = std::move(name);
  column.priority = priority;
  column.cell = [text = std::move(text)](const Json& object, Timestamp) { return Json(text(object)); };
  return column;
}

Column number_column(std::string name, std::function<std::int64_t(const Json&)> number) {
  Column column;
  column.name = std::move(name);
  column.type = "integer";
  column.cell = [number = std::move(number)](const Json& object, Timestamp) { return Json(number(object)); };
  return column;
}

std::vector<Column> container_columns(const std::vector<std::string>& path, int priority) {
  const auto joined = [&](const char* field) {
    return [field, path](const Json& object) {
      const Json* at = &object;
      for (const std::string& each : path) at = at == nullptr ? nullptr : find_path(*at, {each});
      std::string text;
      if (at == nullptr) return text;
      for (const Json& container : array_at(*at, {"spec", "containers"})) {
        text += (text.empty() ? "" : ",") + string_at(container, {field});
      }
      return text;
    };
  };
  return {text_column("Containers", joined("name"), priority), text_column("Images", joined("image"), priority)};
}

Column selector_column() {
  return text_column(
      "Selector",
      [](const Json& object) {
        const Json* selector = find_path(object, {"spec", "selector"});
        if (selector == nullptr) return std::string("<none>");
        const Result<LabelSelector> parsed = LabelSelector::from_json(*selector);
        return parsed ? or_none(parsed->to_string()) : std::string("<invalid>");
      },
      1);
}

std::vector<Column> builtin_columns(const Resource& resource) {
  const std::string id = resource.id();
  if (id == "pods") return pod_columns();
  if (id == "nodes") return node_columns();
  if (id == "services") return service_columns();
  if (id == "events") return event_columns(false);
  if (id == "events.events.k8s.io") return event_columns(true);
  if (id == "jobs.batch") return job_columns();
  if (id == "statefulsets.apps") return stateful_set_columns();
  if (id == "controllerrevisions.apps") return revision_columns();
  if (id == "podtemplates") return pod_template_columns();
  if (id == "namespaces") return {name_column(), string_column("Status", {"status", "phase"}), age_column()};
  if (id == "configmaps") return {name_column(), data_column(), age_column()};
  if (id == "secrets") return {name_column(), string_column("Type", {"type"}), data_column(), age_column()};
  if (id == "leases.coordination.k8s.io") {
    return {name_column(), string_column("Holder", {"spec", "holderIdentity"}), age_column()};
  }
  if (id == "endpointslices.discovery.k8s.io") return slice_columns();
  if (id == "customresourcedefinitions.apiextensions.k8s.io") {
    return {name_column(), string_column("Created At", {"metadata", "creationTimestamp"})};
  }
  if (id == "priorityclasses.scheduling.k8s.io") {
    return {name_column(), number_column("Value", [](const Json& object) { return int_at(object, {"value"}); }),
            text_column(
                "Global-Default",
                [](const Json& object) { return std::string(bool_at(object, {"globalDefault"}) ? "true" : "false"); }),
            age_column()};
  }
  if (resource.group == "admissionregistration.k8s.io") return {name_column(), webhooks_column(), age_column()};
  return {};
}

}  // namespace tpuslice::sim

#include "tests/unit/deploy/api_reference.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/support/crds.h"

namespace tpuslice::testing {
namespace {

constexpr std::string_view kGenerated = "<!-- Generated from deploy/crds by `make api-docs`. -->\n";
constexpr std::string_view kTableHead = "| field | type | description |\n| --- | --- | --- |\n";

/// Fields of other kinds that have the schema of a RayCluster's spec or status.
constexpr std::array kRayClusterFields{"rayClusterSpec", "rayClusterConfig", "rayClusterStatus"};

std::string last_name(const std::string& path) { return path.substr(path.rfind('.') + 1); }

bool is_ray_cluster(const std::string& path) {
  return std::ranges::find(kRayClusterFields, last_name(path)) != kRayClusterFields.end();
}

std::string escape(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '|') out += '\\';
    if (letter == '<') {
      out += "&lt;";
    } else {
      out += letter;
    }
  }
  return out;
}

std::string print(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::string type_of(const Json& field) {
  if (bool_at(field, {"x-kubernetes-int-or-string"})) return "integer or string";
  const std::string type = string_at(field, {"type"});
  if (type == "array") return fmt::format("list of {}", type_of(field.at("items")));
  if (const Json* values = find_path(field, {"additionalProperties"}))
    return fmt::format("map of {}", type_of(*values));
  const std::string format = string_at(field, {"format"});
  return format.empty() ? type : fmt::format("{} ({})", type, format);
}

/// The limits of a value, as sentences.
std::string limits_of(const Json& field, bool required) {
  std::vector<std::string> out;
  if (required) out.emplace_back("Required.");
  if (const Json* values = find_path(field, {"enum"})) {
    std::vector<std::string> names;
    for (const Json& value : *values) names.push_back(fmt::format("`{}`", value == "" ? "\"\"" : print(value)));
    out.push_back(fmt::format("One of {}.", fmt::join(names, ", ")));
  }
  const std::pair<const char*, const char*> bounds[] = {{"minimum", "Minimum"},       {"maximum", "Maximum"},
                                                        {"minItems", "Min. items"},   {"maxItems", "Max. items"},
                                                        {"minLength", "Min. length"}, {"maxLength", "Max. length"}};
  for (const auto& [keyword, label] : bounds) {
    if (const Json* bound = find_path(field, {keyword})) out.push_back(fmt::format("{} {}.", label, bound->dump()));
  }
  if (const Json* fallback = find_path(field, {"default"})) {
    if (*fallback != Json::object() && *fallback != "") out.push_back(fmt::format("Default `{}`.", print(*fallback)));
  }
  return fmt::format("{}", fmt::join(out, " "));
}

std::string row(const std::string& path, const Json& field, bool required, std::string_view more = {}) {
  std::string text = escape(string_at(field, {"description"}));
  for (const std::string& part : {limits_of(field, required), std::string(more)}) {
    if (!part.empty()) text += (text.ends_with('.') ? " " : ". ") + part;
  }
  return fmt::format("| `{}` | {} | {} |\n", path, type_of(field), text);
}

/// Members of a pod specification that the page of pods does not have in the same form.
std::string other_members(const Json& spec, const std::string& path, const Json& pod_spec) {
  std::string out;
  for (const auto& [name, member] : spec.at("properties").items()) {
    const Json* known = find_path(pod_spec, {"properties", name});
    if (known == nullptr || limits_of(*known, false) != limits_of(member, false)) {
      out += row(fmt::format("{}.{}", path, name), member, false);
    }
  }
  return out;
}

std::string fields_of(const Json& schema, const std::string& part, const Json& pod_spec) {
  std::string out(kTableHead);
  each_field(
      schema.at("properties").at(part),
      [&](const std::string& path, const Json& field, bool required) {
        if (is_ray_cluster(path)) {
          const bool status = path.ends_with("Status");
          out += row(path, field, required,
                     fmt::format("Its fields: [RayCluster](raycluster.md#{}).", status ? "status" : "spec"));
          return false;
        }
        if (!is_pod_spec(field)) {
          out += row(path, field, required);
          return true;
        }
        out += row(path, field, required, "Its fields: [pods](pod-spec.md).");
        out += other_members(field, path, pod_spec);
        return false;
      },
      part);
  return out;
}

/// The rules below a schema that are not on another page.
void collect_rules(const Json& schema, const std::string& path, std::string& out) {
  for (const Json& rule : array_at(schema, {"x-kubernetes-validations"})) {
    const std::string field = path + string_at(rule, {"fieldPath"});
    out += fmt::format("| `{}` | {} |\n", field, escape(string_at(rule, {"message"})));
  }
  if (is_ray_cluster(path)) return;
  if (const Json* properties = find_path(schema, {"properties"})) {
    for (const auto& [name, field] : properties->items()) {
      collect_rules(field, path.empty() ? name : path + "." + name, out);
    }
  }
  if (const Json* items = find_path(schema, {"items"})) collect_rules(*items, path + "[]", out);
}

std::string versions_of(const Json& crd) {
  std::string out = "| version | |\n| --- | --- |\n";
  for (const Json& version : array_at(crd, {"spec", "versions"})) {
    out += fmt::format("| `{}/{}` | served{}{} |\n", string_at(crd, {"spec", "group"}), string_at(version, {"name"}),
                       bool_at(version, {"storage"}) ? ", stored" : "",
                       bool_at(version, {"deprecated"}) ? ", deprecated" : "");
  }
  return out;
}

std::string upper(std::string text) {
  for (char& letter : text) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return text;
}

std::string columns_of(const Json& crd) {
  std::string out = "| column | value | |\n| --- | --- | --- |\n";
  for (const Json& column : array_at(crd.at("spec").at("versions").at(0), {"additionalPrinterColumns"})) {
    out += fmt::format("| {} | `{}` | {} |\n", upper(string_at(column, {"name"})), string_at(column, {"jsonPath"}),
                       int_at(column, {"priority"}) > 0 ? "with `-o wide`" : "");
  }
  return out;
}

}  // namespace

std::string api_reference(const Json& crd, const Json& pod_spec) {
  const std::string kind = string_at(crd, {"spec", "names", "kind"});
  const Json& schema = stored_schema(crd);
  std::string rules;
  collect_rules(schema, "", rules);
  std::string out = fmt::format("{}# {}\n\n{}\n\n", kGenerated, kind, escape(string_at(schema, {"description"})));
  out += "How to read this page, and what the definitions promise: [api.md](../api.md).\n\n";
  out += versions_of(crd) + "\n";
  out += "## spec\n\n" + fields_of(schema, "spec", pod_spec) + "\n";
  out += "## status\n\n" + fields_of(schema, "status", pod_spec) + "\n";
  out += "## Rules\n\nThe API server refuses an object that breaks one of them, without the operator.\n\n";
  out += "| field | message |\n| --- | --- |\n" + rules + "\n";
  out += "## Columns of kubectl get\n\n" + columns_of(crd);
  return out;
}

std::string pod_reference(const Json& pod_spec) {
  std::string out = fmt::format("{}# Specification of pods\n\n", kGenerated);
  out +=
      "The described fields of pods in the templates of all kinds. Other fields of v1 pods are accepted and kept, "
      "too\n";
  out += "([pod templates](../api.md#pod-templates)).\n\n";
  out += kTableHead;
  each_field(pod_spec, [&](const std::string& path, const Json& field, bool required) {
    out += row(path, field, required);
    return true;
  });
  return out;
}

}  // namespace tpuslice::testing

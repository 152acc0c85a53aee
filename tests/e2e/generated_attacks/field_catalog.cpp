#include "tests/e2e/generated_attacks/field_catalog.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "api/base/check.h"
#include "tests/support/crds.h"
#include "tests/support/source_tree.h"

namespace tpuslice::testing {
namespace {

constexpr int kMaxDepth = 18;
constexpr std::string_view kPodSpec = "io.k8s.api.core.v1.PodSpec";
constexpr std::string_view kMetadata = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// A kind of the API server, and the document of /openapi/v3 that has its schema.
struct BuiltIn {
  const char* kind;
  const char* definition;
  const char* document;
};
constexpr BuiltIn kBuiltIn[] = {
    {"Pod", "io.k8s.api.core.v1.Pod", "api/v1"},
    {"Service", "io.k8s.api.core.v1.Service", "api/v1"},
    {"ServiceAccount", "io.k8s.api.core.v1.ServiceAccount", "api/v1"},
    {"PersistentVolumeClaim", "io.k8s.api.core.v1.PersistentVolumeClaim", "api/v1"},
    {"Job", "io.k8s.api.batch.v1.Job", "apis/batch/v1"},
    {"StatefulSet", "io.k8s.api.apps.v1.StatefulSet", "apis/apps/v1"},
};

/// Walks one schema.
class FieldReader {
 public:
  FieldReader(const Json& definitions, const std::vector<std::string>& words)
      : definitions_(definitions), words_(words) {}

  std::vector<Field> read(const Json& schema) {
    add_properties(schema, {}, 0);
    return std::move(fields_);
  }

 private:
  [[nodiscard]] static std::string escaped(std::string token) {
    for (std::size_t i = 0; i < token.size(); ++i) {
      if (token[i] == '~')
        token.replace(i++, 1, "~0");
      else if (token[i] == '/')
        token.replace(i++, 1, "~1");
    }
    return token;
  }

  /// The schema that a reference names; the schema itself if it is none.
  [[nodiscard]] const Json& resolved(const Json& schema) const {
    const Json& all = array_at(schema, {"allOf"});
    const Json& holder = all.size() == 1 ? all.front() : schema;
    const std::string reference = string_at(holder, {"$ref"});
    if (reference.empty()) return schema;
    return definitions_.at(reference.substr(reference.rfind('/') + 1));
  }

  void add_properties(const Json& schema, const std::string& pointer, int depth) {
    const Json* const properties = find_path(schema, {"properties"});
    if (properties == nullptr || depth > kMaxDepth) return;
    for (const auto& [name, field] : properties->items()) {
      if (name == "managedFields" || (depth == 0 && (name == "apiVersion" || name == "kind"))) continue;
      const bool read = std::ranges::binary_search(words_, name);
      // The schemas of our kinds leave out what the API server validates later.
      const bool whole_metadata = name == "metadata" && depth == 0 && !field.contains("properties");
      const Json& below = whole_metadata       ? definitions_.at(std::string(kMetadata))
                          : is_pod_spec(field) ? definitions_.at(std::string(kPodSpec))
                                               : resolved(field);
      add(below, pointer + "/" + escaped(name), read, depth + 1);
    }
  }

  void add(const Json& schema, const std::string& pointer, bool read, int depth) {
    const std::string type = string_at(schema, {"type"});
    if (type == "array") {
      fields_.push_back({pointer, FieldType::kList, read});
      if (schema.contains("items")) add(resolved(schema["items"]), pointer + "/0", read, depth + 1);
    } else if (type == "integer" || type == "number") {
      fields_.push_back({pointer, FieldType::kNumber, read});
    } else if (type == "boolean") {
      fields_.push_back({pointer, FieldType::kBoolean, read});
    } else if (schema.contains("additionalProperties")) {
      fields_.push_back({pointer, FieldType::kMap, read});
    } else if (type == "object" || schema.contains("properties")) {
      fields_.push_back({pointer, FieldType::kObject, read});
      add_properties(schema, pointer, depth);
    } else {
      fields_.push_back({pointer, FieldType::kString, read});  // Also quantities, and strings or numbers.
    }
  }

  const Json& definitions_;
  const std::vector<std::string>& words_;
  std::vector<Field> fields_;
};

}  // namespace

SourceNames read_source_names() {
  const RE2 literal(R"re("([A-Za-z][A-Za-z0-9._/-]{1,80})")re");
  const RE2 qualified(R"re((?:[a-z0-9-]+\.)+[a-z0-9-]+/[A-Za-z0-9._-]+)re");
  const RE2 variable(R"re([A-Z][A-Z0-9]*_[A-Z0-9_]+)re");
  std::set<std::string> names;
  std::set<std::string> variables;
  std::set<std::string> words;
  for (const SourceFile& file : read_sources({"tpu", "webhook", "controllers", "api/types"})) {
    for (const std::string& line : file.lines) {
      re2::StringPiece rest(line);
      std::string text;
      if (line.starts_with("#include")) continue;
      while (RE2::FindAndConsume(&rest, literal, &text)) {
        if (RE2::FullMatch(text, qualified))
          names.insert(text);
        else if (RE2::FullMatch(text, variable))
          variables.insert(text);
        else
          words.insert(text);
      }
    }
  }
  return {{names.begin(), names.end()}, {variables.begin(), variables.end()}, {words.begin(), words.end()}};
}

Result<FieldCatalog> FieldCatalog::read(client::Client& client) {
  FieldCatalog catalog;
  catalog.names_ = read_source_names();
  std::map<std::string, Json> documents;
  for (const BuiltIn& kind : kBuiltIn) {
    Json& document = documents[kind.document];
    if (document.is_null()) {
      ASSIGN_OR_RETURN(const http::Response response,
                       client.raw({"GET", fmt::format("/openapi/v3/{}", kind.document)}));
      ASSIGN_OR_RETURN(document, parse_json(response.body));
    }
    const Json& definitions = document.at("components").at("schemas");
    catalog.add_kind(kind.kind, definitions.at(kind.definition), definitions);
  }
  const Json& core = documents.at("api/v1").at("components").at("schemas");
  for (const Json& crd : read_crds()) {
    catalog.add_kind(string_at(crd, {"spec", "names", "kind"}), stored_schema(crd), core);
  }
  return catalog;
}

void FieldCatalog::add_kind(const std::string& kind, const Json& schema, const Json& definitions) {
  fields_[kind] = FieldReader(definitions, names_.words).read(schema);
}

const std::vector<Field>& FieldCatalog::fields_of(std::string_view kind) const {
  const auto found = fields_.find(kind);
  TPUSLICE_CHECK(found != fields_.end());
  return found->second;
}

}  // namespace tpuslice::testing

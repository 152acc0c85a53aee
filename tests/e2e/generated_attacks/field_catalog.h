// FieldCatalog: what an attack can change: the fields of each kind, from the schemas of the API server and of
// deploy/crds; and names that the operator reads, from the string literals of its sources.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"
#include "api/client/client.h"
#include "api/types/json.h"

namespace tpuslice::testing {

enum class FieldType : std::uint8_t { kString, kNumber, kBoolean, kList, kMap, kObject };

struct Field {
  std::string pointer;  ///< JSON pointer; an item of a list is "0".
  FieldType type = FieldType::kString;
  bool read = false;  ///< The operator's sources have its name.
};

/// String literals of the operator's sources.
struct SourceNames {
  std::vector<std::string> qualified;  ///< Names of labels, annotations, gates and resources: with a domain.
  std::vector<std::string> variables;  ///< Of the environment.
  std::vector<std::string> words;      ///< Any other name; sorted.
};

/// Of the folders tpu, webhook, controllers and api. Read below the source root.
[[nodiscard]] SourceNames read_source_names();

class FieldCatalog {
 public:
  /// Reads the schemas of the API server's own kinds there. Errors: of the API server.
  static Result<FieldCatalog> read(client::Client& client);

  /// Of a kind: "Pod", "RayCluster". Aborts for another than those of SeedObjects.
  [[nodiscard]] const std::vector<Field>& fields_of(std::string_view kind) const;
  [[nodiscard]] const SourceNames& names() const { return names_; }

 private:
  void add_kind(const std::string& kind, const Json& schema, const Json& definitions);

  SourceNames names_;
  std::map<std::string, std::vector<Field>, std::less<>> fields_;
};

}  // namespace tpuslice::testing

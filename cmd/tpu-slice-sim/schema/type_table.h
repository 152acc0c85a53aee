// Type tables: the schemas of built-in types, written short. A type that no merge key, default or check depends on is
// `any`.
//
//   PodSpec                                              a type; its fields are indented
//     containers* []Container @name  The containers.     required, list of Container, merged by name
//     ports []ContainerPort @containerPort/containerPort,protocol   patch merge key / keys of the list map
//     nodeSelector {string} ~atomic                      map, replaced as one
//     protocol string =TCP                               default of a list key
//
// Types: string int count (an int of at least 0) long number bool time any intstr quantity bytes, a type of any table,
// []T, {T}. Markers: @keys,
// !set (merged as a set), ~atomic, ~retain (the patch strategy retainKeys), =default. The rest is the description.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::sim {

class TypeTable {
 public:
  /// A malformed table is a bug.
  explicit TypeTable(const std::vector<std::string_view>& tables);

  /// The schema of a type with everything inlined; types must not contain themselves.
  [[nodiscard]] Json schema(std::string_view type) const;

 private:
  struct Field {
    std::string name;
    std::string type;
    bool required = false;
    std::vector<std::string> markers;
    std::string description;
  };
  void add(std::string_view table);
  static Field parse_field(std::string_view line);
  [[nodiscard]] Json field_schema(const Field& field) const;
  static void mark(Json& schema, const std::string& marker);

  std::map<std::string, std::vector<Field>, std::less<>> types_;
};

[[nodiscard]] std::string_view meta_types();
[[nodiscard]] std::string_view pod_types();
[[nodiscard]] std::string_view volume_types();
[[nodiscard]] std::string_view core_types();
[[nodiscard]] std::string_view workload_types();
[[nodiscard]] std::string_view policy_types();

}  // namespace tpuslice::sim

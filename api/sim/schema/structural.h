// Structural schemas: what a CustomResourceDefinition's openAPIV3Schema does to an object, as the API server does it.
//
// A write of a custom resource goes prune, apply_defaults, validate, validate_rules, in this order. A schema that
// check_crd_schema() accepted makes none of them fail on the schema itself.
#pragma once

#include <string>
#include <vector>

#include "api/base/result.h"
#include "api/types/json.h"

namespace tpuslice::sim {

/// One reason why an object is refused, as a cause in metav1.Status prints it.
struct FieldProblem {
  std::string path;     ///< "spec.workerGroupSpecs[0].numOfHosts"; "<nil>" for the object itself.
  std::string message;  ///< "Required value", "Invalid value: \"x\": ..."
  std::string reason;   ///< "FieldValueInvalid", "FieldValueRequired", ...

  friend bool operator==(const FieldProblem&, const FieldProblem&) = default;
};

/// Whether a CRD may have this openAPIV3Schema: structural, of known keywords, patterns and rules that can be read.
///
/// Errors: Invalid, "openAPIV3Schema.properties[spec].type: Required value: ..."; the caller prefixes
/// "spec.versions[0].schema.". Keywords and CEL outside of what this program evaluates are refused, never ignored.
[[nodiscard]] Status check_crd_schema(const Json& schema);

/// Fills in defaults where a member is absent, or null and not nullable.
void apply_defaults(const Json& schema, Json& object);

/// Removes members that are null where the schema does not allow it and has no default instead.
void drop_nulls(const Json& schema, Json& object);

/// Removes what the schema does not specify and returns its paths. Leaves apiVersion, kind and metadata of the root,
/// and of embedded resources, alone.
std::vector<std::string> prune(const Json& schema, Json& object);

/// Everything but rules. The root's apiVersion, kind and metadata are checked only where the schema says more than
/// their type.
[[nodiscard]] std::vector<FieldProblem> validate(const Json& schema, const Json& object);

/// The same without duplicates in keyed lists, which the API server allows in many lists of built-in resources.
[[nodiscard]] std::vector<FieldProblem> validate_values(const Json& schema, const Json& object);

/// Whether the schema has rules anywhere.
[[nodiscard]] bool has_rules(const Json& schema);

/// The x-kubernetes-validations of the schema. `old` is the object before the write, null on create; rules that use
/// oldSelf are checked only where there was an old value.
[[nodiscard]] std::vector<FieldProblem> validate_rules(const Json& schema, const Json& object, const Json* old);

}  // namespace tpuslice::sim

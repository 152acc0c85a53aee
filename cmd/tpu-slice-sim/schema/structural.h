// Structural schemas: defaults, pruning and validation by the openAPIV3Schema of a CustomResourceDefinition.
//
// A write of a custom resource calls prune, apply_defaults, validate, validate_rules, in this order. A schema that
// check_crd_schema() accepted causes no error in these functions.
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

/// Whether this program can evaluate the openAPIV3Schema of a CRD: known keywords with values of the right type, and
/// patterns and rules that compile. The real API server refuses more, for example schemas that are not structural.
///
/// Errors: Invalid, "openAPIV3Schema.properties[spec].pattern: Invalid value: ..."; the caller prefixes
/// "spec.versions[0].schema.".
[[nodiscard]] Status check_crd_schema(const Json& schema);

/// Sets defaults of members that are absent, or null and not nullable.
void apply_defaults(const Json& schema, Json& object);

/// Removes null members that are not nullable and have no default.
void drop_nulls(const Json& schema, Json& object);

/// Removes fields that the schema does not specify and returns their paths. Keeps apiVersion, kind and metadata of the
/// root and of embedded resources.
std::vector<std::string> prune(const Json& schema, Json& object);

/// All checks except rules. The root's apiVersion, kind and metadata are checked only if the schema specifies more than
/// their type.
[[nodiscard]] std::vector<FieldProblem> validate(const Json& schema, const Json& object);

/// The same without the check for duplicate keys in lists, which the API server allows in many built-in lists.
[[nodiscard]] std::vector<FieldProblem> validate_values(const Json& schema, const Json& object);

/// Whether the schema has rules anywhere.
[[nodiscard]] bool has_rules(const Json& schema);

/// The x-kubernetes-validations of the schema. `old` is the object before the write, null on create; rules that use
/// oldSelf are checked only if there is an old value.
[[nodiscard]] std::vector<FieldProblem> validate_rules(const Json& schema, const Json& object, const Json* old);

}  // namespace tpuslice::sim

#include "cmd/tpu-slice-sim/schema/type_table.h"

namespace tpuslice::sim {

std::string_view meta_types() {
  return R"(
ObjectMeta
  name string  Name of the object, unique in its namespace.
  generateName string  Prefix of a name that the server completes.
  namespace string  Namespace of the object.
  selfLink string
  uid string  Unique in time and space; set by the server.
  resourceVersion string  Version for optimistic concurrency and watches.
  generation long  Counts changes of the desired state.
  creationTimestamp time  When the object was created.
  deletionTimestamp time  When the object is to be removed.
  deletionGracePeriodSeconds long
  labels {string}  Keys and values that selectors match.
  annotations {string}  Keys and values that tools keep on the object.
  ownerReferences []OwnerReference @uid  The object is deleted when none of them exists.
  finalizers []string !set  Hold the deletion until the list is empty.
  managedFields []ManagedFieldsEntry  Which manager owns which fields.
OwnerReference
  apiVersion string
  kind string
  name string
  uid string
  controller bool
  blockOwnerDeletion bool
ManagedFieldsEntry
  manager string
  operation string
  apiVersion string
  time time
  fieldsType string
  fieldsV1 any
  subresource string
LabelSelector
  matchLabels {string}
  matchExpressions []LabelSelectorRequirement
LabelSelectorRequirement
  key* string
  operator* string
  values []string
Condition
  type* string
  status* string
  observedGeneration long
  lastTransitionTime time
  reason string
  message string
LocalObjectReference
  name string
ObjectReference
  kind string
  namespace string
  name string
  uid string
  apiVersion string
  resourceVersion string
  fieldPath string
)";
}

}  // namespace tpuslice::sim

#include "cmd/tpu-slice-sim/schema/type_table.h"

namespace tpuslice::sim {

// NOLINTNEXTLINE(readability-function-size): a table
std::string_view policy_types() {
  return R"(
MutatingWebhookConfiguration
  webhooks []MutatingWebhook @name
MutatingWebhook
  name* string
  clientConfig* WebhookClientConfig
  rules []RuleWithOperations
  failurePolicy string
  matchPolicy string
  namespaceSelector LabelSelector ~atomic
  objectSelector LabelSelector ~atomic
  sideEffects* string
  timeoutSeconds int
  admissionReviewVersions* []string
  reinvocationPolicy string
  matchConditions []MatchCondition @name
ValidatingWebhookConfiguration
  webhooks []ValidatingWebhook @name
ValidatingWebhook
  name* string
  clientConfig* WebhookClientConfig
  rules []RuleWithOperations
  failurePolicy string
  matchPolicy string
  namespaceSelector LabelSelector ~atomic
  objectSelector LabelSelector ~atomic
  sideEffects* string
  timeoutSeconds int
  admissionReviewVersions* []string
  matchConditions []MatchCondition @name
WebhookClientConfig
  url string
  service ServiceReference
  caBundle bytes
ServiceReference
  namespace* string
  name* string
  path string
  port int
RuleWithOperations
  operations []string
  apiGroups []string
  apiVersions []string
  resources []string
  scope string
MatchCondition
  name* string
  expression* string
Role
  rules []PolicyRule
PolicyRule
  verbs* []string
  apiGroups []string
  resources []string
  resourceNames []string
  nonResourceURLs []string
RoleBinding
  subjects []Subject
  roleRef* RoleRef ~atomic
Subject
  kind* string
  apiGroup string
  name* string
  namespace string
RoleRef
  apiGroup* string
  kind* string
  name* string
CustomResourceDefinition
  spec* CustomResourceDefinitionSpec
  status any
CustomResourceDefinitionSpec
  group* string
  names* CustomResourceDefinitionNames
  scope* string
  versions* []CustomResourceDefinitionVersion
  conversion CustomResourceConversion
  preserveUnknownFields bool
CustomResourceDefinitionNames
  plural* string
  singular string
  shortNames []string
  kind* string
  listKind string
  categories []string
CustomResourceConversion
  strategy* string
  webhook any
CustomResourceDefinitionVersion
  name* string
  served* bool
  storage* bool
  deprecated bool
  deprecationWarning string
  schema any
  subresources any
  additionalPrinterColumns []any
  selectableFields []any
)";
}

}  // namespace tpuslice::sim

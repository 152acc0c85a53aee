#include "api/client/view_fields.h"

#include <array>

namespace tpuslice::client {
namespace {

using protobuf::Field;
using protobuf::Message;
using enum protobuf::Type;

constexpr bool kRepeated = true;

// Source: k8s.io/api/core/v1/generated.proto and k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto, 1.36.
constexpr std::array kOwnerReferenceFields{
    Field{1, "kind", kString},       Field{3, "name", kString},     Field{4, "uid", kString},
    Field{5, "apiVersion", kString}, Field{6, "controller", kBool},
};
constexpr Message kOwnerReference{"OwnerReference", kOwnerReferenceFields};

constexpr std::array kObjectMetaFields{
    Field{1, "name", kString},
    Field{3, "namespace", kString},
    Field{5, "uid", kString},
    Field{6, "resourceVersion", kString},
    Field{7, "generation", kInteger},
    Field{8, "creationTimestamp", kTime},
    Field{9, "deletionTimestamp", kTime},
    Field{10, "deletionGracePeriodSeconds", kInteger},
    Field{11, "labels", kStrings},
    Field{12, "annotations", kStrings},
    Field{13, "ownerReferences", kMessage, &kOwnerReference, kRepeated},
    Field{14, "finalizers", kString, nullptr, kRepeated},
};
constexpr Message kObjectMeta{"ObjectMeta", kObjectMetaFields};

constexpr std::array kResourceRequirementsFields{Field{1, "limits", kQuantities}, Field{2, "requests", kQuantities}};
constexpr Message kResourceRequirements{"ResourceRequirements", kResourceRequirementsFields};
constexpr std::array kContainerFields{
    Field{8, "resources", kMessage, &kResourceRequirements},
    Field{24, "restartPolicy", kString},
};
constexpr Message kContainer{"Container", kContainerFields};

constexpr std::array kNodeSelectorRequirementFields{
    Field{1, "key", kString},
    Field{2, "operator", kString},
    Field{3, "values", kString, nullptr, kRepeated},
};
constexpr Message kNodeSelectorRequirement{"NodeSelectorRequirement", kNodeSelectorRequirementFields};
constexpr std::array kNodeSelectorTermFields{
    Field{1, "matchExpressions", kMessage, &kNodeSelectorRequirement, kRepeated},
    Field{2, "matchFields", kMessage, &kNodeSelectorRequirement, kRepeated},
};
constexpr Message kNodeSelectorTerm{"NodeSelectorTerm", kNodeSelectorTermFields};
constexpr std::array kNodeSelectorFields{Field{1, "nodeSelectorTerms", kMessage, &kNodeSelectorTerm, kRepeated}};
constexpr Message kNodeSelector{"NodeSelector", kNodeSelectorFields};
constexpr std::array kPreferredTermFields{
    Field{1, "weight", kInteger},
    Field{2, "preference", kMessage, &kNodeSelectorTerm},
};
constexpr Message kPreferredTerm{"PreferredSchedulingTerm", kPreferredTermFields};
constexpr std::array kNodeAffinityFields{
    Field{1, "requiredDuringSchedulingIgnoredDuringExecution", kMessage, &kNodeSelector},
    Field{2, "preferredDuringSchedulingIgnoredDuringExecution", kMessage, &kPreferredTerm, kRepeated},
};
constexpr Message kNodeAffinity{"NodeAffinity", kNodeAffinityFields};
constexpr std::array kAffinityFields{Field{1, "nodeAffinity", kMessage, &kNodeAffinity}};
constexpr Message kAffinity{"Affinity", kAffinityFields};

constexpr std::array kTolerationFields{
    Field{1, "key", kString},
    Field{2, "operator", kString},
    Field{3, "value", kString},
    Field{4, "effect", kString},
};
constexpr Message kToleration{"Toleration", kTolerationFields};
constexpr std::array kSchedulingGateFields{Field{1, "name", kString}};
constexpr Message kSchedulingGate{"PodSchedulingGate", kSchedulingGateFields};

constexpr std::array kResourceClaimFields{Field{4, "resourceClaimTemplateName", kString}};
constexpr Message kResourceClaim{"PodResourceClaim", kResourceClaimFields};

constexpr std::array kPodSpecFields{
    Field{2, "containers", kMessage, &kContainer, kRepeated},
    Field{3, "restartPolicy", kString},
    Field{4, "terminationGracePeriodSeconds", kInteger},
    Field{5, "activeDeadlineSeconds", kInteger},
    Field{7, "nodeSelector", kStrings},
    Field{10, "nodeName", kString},
    Field{18, "affinity", kMessage, &kAffinity},
    Field{20, "initContainers", kMessage, &kContainer, kRepeated},
    Field{22, "tolerations", kMessage, &kToleration, kRepeated},
    Field{25, "priority", kInteger},
    Field{31, "preemptionPolicy", kString},
    Field{32, "overhead", kQuantities},
    Field{38, "schedulingGates", kMessage, &kSchedulingGate, kRepeated},
    Field{39, "resourceClaims", kMessage, &kResourceClaim, kRepeated},
    Field{40, "resources", kMessage, &kResourceRequirements},
};
constexpr Message kPodSpec{"PodSpec", kPodSpecFields};

// PodCondition and NodeCondition number these alike.
constexpr std::array kConditionFields{
    Field{1, "type", kString},   Field{2, "status", kString},  Field{4, "lastTransitionTime", kTime},
    Field{5, "reason", kString}, Field{6, "message", kString},
};
constexpr Message kCondition{"Condition", kConditionFields};

constexpr std::array kWaitingFields{Field{1, "reason", kString}, Field{2, "message", kString}};
constexpr Message kWaiting{"ContainerStateWaiting", kWaitingFields};
constexpr std::array kTerminatedFields{Field{1, "exitCode", kInteger}, Field{3, "reason", kString},
                                       Field{4, "message", kString}};
constexpr Message kTerminated{"ContainerStateTerminated", kTerminatedFields};
constexpr std::array kContainerStateFields{
    Field{1, "waiting", kMessage, &kWaiting},
    Field{3, "terminated", kMessage, &kTerminated},
};
constexpr Message kContainerState{"ContainerState", kContainerStateFields};
constexpr std::array kContainerStatusFields{
    Field{1, "name", kString},
    Field{2, "state", kMessage, &kContainerState},
    Field{3, "lastState", kMessage, &kContainerState},
    Field{4, "ready", kBool},
    Field{5, "restartCount", kInteger},
};
constexpr Message kContainerStatus{"ContainerStatus", kContainerStatusFields};

constexpr std::array kPodStatusFields{
    Field{1, "phase", kString},
    Field{2, "conditions", kMessage, &kCondition, kRepeated},
    Field{3, "message", kString},
    Field{4, "reason", kString},
    Field{6, "podIP", kString},
    Field{8, "containerStatuses", kMessage, &kContainerStatus, kRepeated},
    Field{10, "initContainerStatuses", kMessage, &kContainerStatus, kRepeated},
    Field{11, "nominatedNodeName", kString},
};
constexpr Message kPodStatus{"PodStatus", kPodStatusFields};

constexpr std::array kPodFields{
    Field{1, "metadata", kMessage, &kObjectMeta},
    Field{2, "spec", kMessage, &kPodSpec},
    Field{3, "status", kMessage, &kPodStatus},
};

constexpr std::array kTaintFields{Field{1, "key", kString}, Field{2, "value", kString}, Field{3, "effect", kString}};
constexpr Message kTaint{"Taint", kTaintFields};
constexpr std::array kNodeSpecFields{
    Field{4, "unschedulable", kBool},
    Field{5, "taints", kMessage, &kTaint, kRepeated},
};
constexpr Message kNodeSpec{"NodeSpec", kNodeSpecFields};
constexpr std::array kNodeStatusFields{
    Field{2, "allocatable", kQuantities},
    Field{4, "conditions", kMessage, &kCondition, kRepeated},
};
constexpr Message kNodeStatus{"NodeStatus", kNodeStatusFields};

constexpr std::array kNodeFields{
    Field{1, "metadata", kMessage, &kObjectMeta},
    Field{2, "spec", kMessage, &kNodeSpec},
    Field{3, "status", kMessage, &kNodeStatus},
};

}  // namespace

const Message* view_fields(const ResourceType& type) {
  static constexpr Message kPod{"Pod", kPodFields};
  static constexpr Message kNode{"Node", kNodeFields};
  if (type == kPods) return &kPod;
  if (type == kNodes) return &kNode;
  return nullptr;
}

}  // namespace tpuslice::client

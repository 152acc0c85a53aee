// Placement: keeps the pods of a slice together and those of other slices away, whatever else the user asked for.
#pragma once

#include <string>
#include <string_view>

#include "tpu/identity.h"

namespace tpuslice::tpu {

/// Value of the label tpuslice.dev/slice: names one slice of one owner, unlike its name, which a recreated object or
/// another namespace may share. "<slice name>-<hash>", a long name cut.
[[nodiscard]] std::string slice_key(const SliceIdentity& identity);

/// The slice's name in such a key, for people.
[[nodiscard]] std::string_view name_in_slice_key(std::string_view key);

/// Value of the annotation tpuslice.dev/slice-gang, the same for all slices that may work together.
[[nodiscard]] std::string gang_key(const SliceIdentity& identity);

/// Joins into a pod's spec.affinity, which may be null, two required terms on `topology_key`: with pods of this slice,
/// and away from those of any other slice in any namespace. The user's terms stay as they are; a term that is there is
/// not added again.
///
/// A slice's first pod matches its own affinity term, so any of its pods may be scheduled first.
/// Source: the symmetric terms of kuberay-tpu-webhook, less its overwriting of spec.affinity and its blind spot for
/// clusters of one name in two namespaces.
void join_slice_affinity(Json& affinity, std::string_view key, std::string_view topology_key);

/// The same by another label: with pods whose `label` is `value`, and away from those that have another one, in any
/// namespace. Terms of LeaderWorkerSet's own webhook, which see one namespace only, count as there.
void join_exclusive_affinity(Json& affinity, std::string_view label, std::string_view value,
                             std::string_view topology_key);

/// Joins the term to go where the slice `key` has gone. A pod that is none of its hosts waits for it.
void follow_slice(Json& affinity, std::string_view key, std::string_view topology_key);

/// Whether a toleration of the pod's covers the taint on TPU nodes.
[[nodiscard]] bool tolerates_tpu(const Json& pod);

/// Adds one to a pod's spec.tolerations, which may be null. GKE does the same for pods with chips.
void add_tpu_toleration(Json& tolerations);

}  // namespace tpuslice::tpu

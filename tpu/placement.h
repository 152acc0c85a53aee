// Slice keys, and the affinities and tolerations that pods of a slice get.
#pragma once

#include <string>
#include <string_view>

#include "tpu/identity.h"

namespace tpuslice::tpu {

/// Value of the label tpuslice.dev/slice: "<slice name>-<hash>", with a long name truncated. Unique for one slice of
/// one owner, while a recreated object or another namespace may use the same slice name.
[[nodiscard]] std::string slice_key(const SliceIdentity& identity);

/// The slice's name in such a key, for messages.
[[nodiscard]] std::string_view name_in_slice_key(std::string_view key);

/// Value of the annotation tpuslice.dev/slice-gang, equal for the slices of a multislice job.
[[nodiscard]] std::string gang_key(const SliceIdentity& identity);

/// Adds two required terms on `topology_key` to a pod's spec.affinity, which may be null: together with pods of this
/// slice, and away from those of all other slices in all namespaces. Keeps the user's terms; does not add a term twice.
///
/// A pod matches its own affinity term, so any pod of the slice may be scheduled first.
/// Source: the symmetric terms of kuberay-tpu-webhook, which overwrites spec.affinity and does not distinguish
/// clusters of one name in two namespaces.
void add_slice_affinity(Json& affinity, std::string_view key, std::string_view topology_key);

/// The same by another label: together with pods whose `label` is `value`, and away from those with another value.
/// Terms of LeaderWorkerSet's own webhook, which cover one namespace only, are not added again.
void add_exclusive_affinity(Json& affinity, std::string_view label, std::string_view value,
                            std::string_view topology_key);

/// Adds a required term: together with the slice `key`. For a pod that is not one of its hosts.
void add_affinity_to_slice(Json& affinity, std::string_view key, std::string_view topology_key);

/// Whether the pod tolerates the taint on TPU nodes.
[[nodiscard]] bool tolerates_tpu(const Json& pod);

/// Adds a toleration of it to a pod's spec.tolerations, which may be null. GKE does the same for pods with chips.
void add_tpu_toleration(Json& tolerations);

}  // namespace tpuslice::tpu

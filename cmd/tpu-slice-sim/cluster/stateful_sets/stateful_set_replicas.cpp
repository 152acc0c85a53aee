// StatefulSetSync: creation, deletion and update of pods, in order.
#include <algorithm>

#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_pods.h"
#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_revisions.h"
#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_sync.h"
#include "cmd/tpu-slice-sim/registry/kinds.h"

namespace tpuslice::sim {

namespace {

constexpr std::size_t kMaxBatch = 500;

}  // namespace

void StatefulSetSync::place_pods() {
  const int first = first_ordinal(set_);
  replicas_.resize(static_cast<std::size_t>(desired_replicas(set_)));
  for (const JsonPtr& pod : members_.pods) {
    const int ordinal = *ordinal_of(set_, *pod);
    if (in_range(set_, ordinal)) {
      replicas_[static_cast<std::size_t>(ordinal - first)] = pod;
    } else {
      condemned_.push_back(pod);
    }
  }
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    if (replicas_[i] == nullptr) {
      replicas_[i] = std::make_shared<const Json>(missing_pod(first + static_cast<int>(i)));
    }
  }
  std::stable_sort(condemned_.begin(), condemned_.end(), [this](const JsonPtr& a, const JsonPtr& b) {
    return *ordinal_of(set_, *a) > *ordinal_of(set_, *b);
  });
  std::vector<JsonPtr> in_order = replicas_;
  in_order.insert(in_order.end(), condemned_.rbegin(), condemned_.rend());
  const auto found =
      std::find_if(in_order.begin(), in_order.end(), [this](const JsonPtr& pod) { return unavailable(*pod); });
  if (found != in_order.end()) first_unavailable_ = *found;
}

/// A pod below the partition has the current revision; without a partition, the first status.currentReplicas have it.
Json StatefulSetSync::missing_pod(int ordinal) const {
  const Json* rolling = find_path(set_, {"spec", "updateStrategy", "rollingUpdate"});
  bool old = false;
  if (rolling != nullptr) {
    old = ordinal < first_ordinal(set_) + int_at(*rolling, {"partition"});
  } else if (string_at(set_, {"spec", "updateStrategy", "type"}) == "RollingUpdate") {
    old = ordinal < first_ordinal(set_) + int_at(set_, {"status", "currentReplicas"});
  }
  const Json& revision = old ? *current_ : *update_;
  return make_stateful_pod(set_, template_in(revision), ordinal, string_at(revision, {"metadata", "name"}));
}

void StatefulSetSync::manage() {
  bool done = for_all(replicas_.size(), [this](std::size_t i) { return settle_replica(*replicas_[i]); });
  done = done && for_all(condemned_.size(), [this](std::size_t i) {
           std::string why;
           if (claims_match(*condemned_[i]) || set_claim_owners(*condemned_[i], why)) return true;
           outcome_.failed = true;
           return false;
         });
  done = done && for_all(condemned_.size(), [this](std::size_t i) { return condemn(condemned_[i]); });
  std::vector<JsonPtr> all = replicas_;
  all.insert(all.end(), condemned_.begin(), condemned_.end());
  count(all);
  if (done && string_at(set_, {"spec", "updateStrategy", "type"}) != "OnDelete") roll();
}

bool StatefulSetSync::for_all(std::size_t count, const std::function<bool(std::size_t)>& act) {
  if (ordered_) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!act(i)) return false;
    }
    return true;
  }
  // Slow start: one first, then batches of twice the size, since an error usually repeats.
  std::size_t done = 0;
  for (std::size_t batch = 1; done < count && !outcome_.failed; batch = std::min(2 * batch, kMaxBatch)) {
    for (const std::size_t end = std::min(count, done + batch); done < end; ++done) act(done);
  }
  return !outcome_.failed;
}

bool StatefulSetSync::settle_replica(const Json& pod) {
  if (pod_finished(pod)) {
    // A terminal pod is deleted, then created again.
    if (!terminating(pod)) remove(pod);
    return false;
  }
  if (!pod_created(pod)) {
    if (claims_stale(pod) || !create(pod) || ordered_) return false;
  }
  if (string_at(pod, {"status", "phase"}) == "Pending") {
    std::string why;
    if (!create_claims(pod, why)) {
      outcome_.failed = true;
      return false;
    }
    if (!set_claim_owners(pod, why)) return refuse("Update", pod, why);
  }
  if (ordered_ && (terminating(pod) || !running_and_ready(pod) || !pod_available(set_, pod, now_))) return false;
  return maintain(pod);
}

bool StatefulSetSync::maintain(const Json& pod) {
  if (identity_matches(pod) && volumes_match(set_, pod) && claims_match(pod)) return true;
  return update(pod);
}

bool StatefulSetSync::condemn(const JsonPtr& pod) {
  if (terminating(*pod)) return !ordered_;
  const bool healthy = running_and_ready(*pod) && pod_available(set_, *pod, now_);
  if (ordered_ && !healthy && pod != first_unavailable_) return false;
  remove(*pod);
  return false;
}

/// Deletes the pod of another revision with the highest ordinal, unless a higher one is unavailable.
void StatefulSetSync::roll() {
  const auto partition =
      static_cast<std::size_t>(int_at(set_, {"spec", "updateStrategy", "rollingUpdate", "partition"}));
  for (std::size_t i = replicas_.size(); i > partition; --i) {
    const Json& pod = *replicas_[i - 1];
    if (pod_revision(pod) != string_at(*update_, {"metadata", "name"}) && !terminating(pod)) {
      if (remove(pod)) status_["currentReplicas"] = int_at(status_, {"currentReplicas"}) - 1;
      return;
    }
    if (unavailable(pod)) return;
  }
}

bool StatefulSetSync::unavailable(const Json& pod) const { return !pod_available(set_, pod, now_) || terminating(pod); }

}  // namespace tpuslice::sim

#include "cmd/tpu-slice-sim/cluster/garbage_collection/garbage_collector.h"

#include <algorithm>

#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "cmd/tpu-slice-sim/registry/kinds.h"

namespace tpuslice::sim {

namespace {

constexpr std::string_view kGarbageCollector = "generic-garbage-collector";

bool has_finalizer(const Json& object, const std::string& name) {
  const Json* list = find_path(object, {"metadata", "finalizers"});
  return list != nullptr && list->is_array() && std::find(list->begin(), list->end(), Json(name)) != list->end();
}

}  // namespace

GarbageCollector::GarbageCollector(Registry& registry)
    : registry_(registry),
      feed_(
          registry.storage(),
          [&registry] {
            std::vector<std::string> names;
            for (const ResourcePtr& resource : registry.resources().list()) names.push_back(resource->id());
            std::sort(names.begin(), names.end());
            names.erase(std::unique(names.begin(), names.end()), names.end());
            return names;
          },
          false) {}

bool GarbageCollector::step() {
  const ChangeFeed::Batch batch = feed_.take();
  if (batch.relisted) {
    objects_.clear();
    by_uid_.clear();
    dependents_.clear();
    nodes_changed_ = true;
  }
  for (const Change& change : batch.changes) observe(change);
  bool wrote = false;
  for (const Ref& ref : std::exchange(queue_, {})) wrote |= process(ref);
  wrote |= collect_pods();
  return wrote;
}

void GarbageCollector::observe(const Change& change) {
  const Ref ref{change.resource, change.key};
  if (change.resource == "nodes") nodes_changed_ |= change.type != ChangeType::kModified;
  if (change.resource == "pods" && change.type != ChangeType::kDeleted) suspects_.insert(change.key);
  forget(ref);
  const std::string uid = string_at(*change.object, {"metadata", "uid"});
  if (change.type == ChangeType::kDeleted) {
    enqueue_dependents(uid);
    return;
  }
  Node node{uid,
            {},
            terminating(*change.object),
            has_finalizer(*change.object, "foregroundDeletion"),
            has_finalizer(*change.object, "orphan")};
  if (const Json* owners = find_path(*change.object, {"metadata", "ownerReferences"});
      owners != nullptr && owners->is_array()) {
    for (const Json& owner : *owners) {
      const Json* blocks = find_path(owner, {"blockOwnerDeletion"});
      node.owners.push_back(
          {string_at(owner, {"uid"}), blocks != nullptr && blocks->is_boolean() && blocks->get<bool>()});
      dependents_[node.owners.back().uid].insert(ref);
    }
  }
  if (!node.owners.empty() || (node.terminating && (node.foreground || node.orphan))) queue_.insert(ref);
  by_uid_[uid] = ref;
  const bool wakes_dependents = node.terminating && (node.foreground || node.orphan);
  objects_[ref] = std::move(node);
  if (wakes_dependents) enqueue_dependents(uid);
}

void GarbageCollector::forget(const Ref& ref) {
  const auto known = objects_.find(ref);
  if (known == objects_.end()) return;
  for (const Owner& owner : known->second.owners) {
    const auto found = dependents_.find(owner.uid);
    if (found != dependents_.end()) {
      found->second.erase(ref);
      if (found->second.empty()) dependents_.erase(found);
    }
    // The owner's foreground deletion may have waited for this object.
    if (const auto waiting = by_uid_.find(owner.uid); waiting != by_uid_.end()) {
      const auto node = objects_.find(waiting->second);
      if (node != objects_.end() && node->second.terminating) queue_.insert(waiting->second);
    }
  }
  by_uid_.erase(known->second.uid);
  objects_.erase(known);
}

void GarbageCollector::enqueue_dependents(const std::string& uid) {
  const auto found = dependents_.find(uid);
  if (found != dependents_.end()) queue_.insert(found->second.begin(), found->second.end());
}

const GarbageCollector::Node* GarbageCollector::owner_of(const Owner& owner, const Ref& dependent) const {
  const auto ref = by_uid_.find(owner.uid);
  if (ref == by_uid_.end()) return nullptr;
  const std::string& space = ref->second.second.namespace_name;
  if (!space.empty() && space != dependent.second.namespace_name) return nullptr;
  return &objects_.at(ref->second);
}

bool GarbageCollector::process(const Ref& ref) {
  const auto found = objects_.find(ref);
  if (found == objects_.end()) return false;
  const Node node = found->second;
  bool wrote = collect(ref, node);
  if (node.terminating && node.orphan) wrote |= finish_orphan(ref, node);
  if (node.terminating && node.foreground) wrote |= finish_foreground(ref, node);
  return wrote;
}

bool GarbageCollector::collect(const Ref& ref, const Node& node) {
  if (node.owners.empty() || node.terminating) return false;
  bool any_solid = false;
  bool any_waiting = false;
  for (const Owner& owner : node.owners) {
    const Node* found = owner_of(owner, ref);
    if (found == nullptr) continue;
    if (found->terminating && found->foreground) {
      any_waiting = true;
    } else {
      any_solid = true;
    }
  }
  if (any_solid) return false;
  return remove(ref, node.uid, any_waiting ? "Foreground" : "Background");
}

bool GarbageCollector::finish_foreground(const Ref& ref, const Node& node) {
  if (const auto found = dependents_.find(node.uid); found != dependents_.end()) {
    for (const Ref& dependent : found->second) {
      const Node& child = objects_.at(dependent);
      for (const Owner& owner : child.owners) {
        if (owner.uid == node.uid && owner.blocks_deletion) return false;
      }
    }
  }
  return drop_finalizer(ref, "foregroundDeletion");
}

bool GarbageCollector::finish_orphan(const Ref& ref, const Node& node) {
  const auto found = dependents_.find(node.uid);
  const std::set<Ref> dependents = found == dependents_.end() ? std::set<Ref>() : found->second;
  bool all = true;
  for (const Ref& dependent : dependents) {
    const ResourcePtr resource = registry_.resources().find_id(dependent.first);
    if (resource == nullptr) continue;
    const auto written = registry_.modify(
        *resource, dependent.second, {},
        [&](Json& json) -> Status {
          Json& owners = json["metadata"]["ownerReferences"];
          Json kept = Json::array();
          for (const Json& owner : owners) {
            if (string_at(owner, {"uid"}) != node.uid) kept.push_back(owner);
          }
          if (kept.empty()) {
            json["metadata"].erase("ownerReferences");
          } else {
            owners = kept;
          }
          return {};
        },
        as_controller(kGarbageCollector));
    all &= written.ok() || written.error().code() == ErrorCode::kNotFound;
  }
  if (!all) return !dependents.empty();
  return drop_finalizer(ref, "orphan") || !dependents.empty();
}

bool GarbageCollector::remove(const Ref& ref, const std::string& uid, const std::string& propagation) {
  const ResourcePtr resource = registry_.resources().find_id(ref.first);
  if (resource == nullptr) return false;
  DeleteOptions options;
  options.write = as_controller(kGarbageCollector);
  options.uid = uid;
  options.propagation = propagation;
  return registry_.remove(*resource, ref.second, options).ok();
}

bool GarbageCollector::drop_finalizer(const Ref& ref, const std::string& finalizer) {
  const ResourcePtr resource = registry_.resources().find_id(ref.first);
  if (resource == nullptr) return false;
  return registry_
      .modify(
          *resource, ref.second, {},
          [&](Json& json) -> Status {
            Json kept = Json::array();
            for (const Json& entry : json["metadata"]["finalizers"]) {
              if (entry != Json(finalizer)) kept.push_back(entry);
            }
            if (kept.empty()) {
              json["metadata"].erase("finalizers");
            } else {
              json["metadata"]["finalizers"] = kept;
            }
            return {};
          },
          as_controller(kGarbageCollector))
      .ok();
}

bool GarbageCollector::collect_pods() {
  std::set<ObjectKey> keys = std::exchange(suspects_, {});
  if (std::exchange(nodes_changed_, false)) {
    for (auto it = objects_.lower_bound({"pods", {}}); it != objects_.end() && it->first.first == "pods"; ++it) {
      keys.insert(it->first.second);
    }
  }
  bool wrote = false;
  for (const ObjectKey& key : keys) wrote |= collect_pod(key);
  return wrote;
}

bool GarbageCollector::collect_pod(const ObjectKey& key) {
  const JsonPtr pod = registry_.storage().get("pods", key);
  if (pod == nullptr) return false;
  const std::string node = string_at(*pod, {"spec", "nodeName"});
  const bool orphaned = !node.empty() && registry_.storage().get("nodes", {"", node}) == nullptr;
  if (!orphaned && !(node.empty() && terminating(*pod))) return false;
  const ResourcePtr resource = registry_.resources().find_id("pods");
  // A pod with finalizers stays, but must not look active.
  if (!pod_finished(*pod)) {
    const auto failed = registry_.modify(
        *resource, key, "status",
        [&](Json& json) -> Status {
          json["status"]["phase"] = "Failed";
          if (orphaned) {
            set_condition(json["status"],
                          {"DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists"},
                          registry_.clock().wall());
          }
          return {};
        },
        as_controller(kGarbageCollector));
    if (!failed) return false;
  }
  DeleteOptions options;
  options.write = as_controller(kGarbageCollector);
  options.uid = string_at(*pod, {"metadata", "uid"});
  options.grace_seconds = 0;
  return registry_.remove(*resource, key, options).ok();
}

}  // namespace tpuslice::sim

// GarbageCollector: deletes objects whose owners are deleted, and pods without a node.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cmd/tpu-slice-sim/cluster/change_feed.h"
#include "cmd/tpu-slice-sim/registry/registry.h"

namespace tpuslice::sim {

/// Owner references are resolved by uid: an owner with another uid or namespace does not exist. Implements the three
/// propagation policies (by the finalizers foregroundDeletion and orphan) and podgc: deletes pods of deleted nodes and
/// terminating pods that were never bound. Not thread-safe.
class GarbageCollector {
 public:
  explicit GarbageCollector(Registry& registry);

  bool step();

 private:
  /// Resource id and key.
  using Ref = std::pair<std::string, ObjectKey>;

  struct Owner {
    std::string uid;
    bool blocks_deletion = false;
    friend bool operator==(const Owner&, const Owner&) = default;
  };
  struct Node {
    std::string uid;
    std::vector<Owner> owners;
    bool terminating = false;
    bool foreground = false;  ///< Has the finalizer foregroundDeletion.
    bool orphan = false;      ///< Has the finalizer orphan.
  };

  void observe(const Change& change);
  void forget(const Ref& ref);
  void enqueue_dependents(const std::string& uid);
  bool process(const Ref& ref);
  bool collect(const Ref& ref, const Node& node);
  bool finish_foreground(const Ref& ref, const Node& node);
  bool finish_orphan(const Ref& ref, const Node& node);
  [[nodiscard]] const Node* owner_of(const Owner& owner, const Ref& dependent) const;
  bool remove(const Ref& ref, const std::string& uid, const std::string& propagation);
  bool drop_finalizer(const Ref& ref, const std::string& finalizer);
  bool collect_pods();
  bool collect_pod(const ObjectKey& key);

  Registry& registry_;
  ChangeFeed feed_;
  std::map<Ref, Node> objects_;
  std::map<std::string, Ref> by_uid_;
  std::map<std::string, std::set<Ref>> dependents_;  ///< By the owner's uid.
  std::set<Ref> queue_;
  bool nodes_changed_ = true;
  std::set<ObjectKey> suspects_;  ///< Pods that changed.
};

}  // namespace tpuslice::sim

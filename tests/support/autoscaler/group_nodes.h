// GroupNodes: the Node objects of node groups, as cloud provider, kubelet and device plugin write them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/client/client.h"
#include "tests/support/autoscaler/node_group.h"

namespace tpuslice::testing {

/// A node of a group.
struct GroupNode {
  const NodeGroup* group = nullptr;
  int host = 0;
  [[nodiscard]] std::string name() const { return sim::node_name(group->pool, host); }
};

/// Every function may be repeated after an error. They work with kwok and with the simulated kubelets: both ignore a
/// node with the annotation and the label of a lost node.
class GroupNodes {
 public:
  /// `writers`: requests at a time.
  GroupNodes(client::Reader& reader, client::Writer& writer, const Clock& clock, int writers)
      : reader_(reader), writer_(writer), clock_(clock), writers_(writers) {}

  /// The kubelets register: the nodes are not Ready and have no chips.
  Status register_nodes(const std::vector<GroupNode>& nodes);
  /// The kubelets become Ready.
  Status start_kubelets(const std::vector<GroupNode>& nodes);
  /// The device plugins register: the nodes have chips.
  Status add_chips(const std::vector<GroupNode>& nodes);
  /// Adds or removes the taint of nodes that are about to be deleted.
  Status taint(const std::vector<GroupNode>& nodes, bool tainted);
  Status remove(const std::vector<GroupNode>& nodes);

 private:
  Status for_each(const std::vector<GroupNode>& nodes, const std::function<Status(const GroupNode&)>& write);

  client::Reader& reader_;
  client::Writer& writer_;
  const Clock& clock_;
  const int writers_;
  int index_ = 0;
};

}  // namespace tpuslice::testing

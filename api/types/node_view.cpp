// Nodes from bytes.
#include "api/types/view_reader.h"

namespace tpuslice {
namespace view {
namespace {

void read_node_spec(Value value, NodeView& node) {
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "unschedulable") node.unschedulable = flag_of(member);
    if (key != "taints") return;
    node.taints.clear();
    each_item(member, [&](Value item) {
      NodeTaint taint;
      each_member(item, [&](std::string_view part, Value text) {
        if (part == "key") taint.key = shared_text_of(text);
        if (part == "value") taint.value = shared_text_of(text);
        if (part == "effect") taint.effect = shared_text_of(text);
      });
      node.taints.push_back(std::move(taint));
    });
  });
}

SharedValue<ResourceAmounts> read_allocatable(Value value, const KeptKeys* keep) {
  ResourceAmounts resources;
  each_member(value, [&](std::string_view name, Value amount) {
    if (is_kept_resource(name, keep) || is_compute_resource(name)) {
      amount_in(resources, name) = amount_of(amount, name);
    }
  });
  normalize(resources);
  return SharedValue<ResourceAmounts>::decoded(std::move(resources));
}

void read_node_status(Value value, const KeptKeys* keep, NodeView& node) {
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "allocatable") node.allocatable = read_allocatable(member, keep);
    if (key == "conditions") {
      const ConditionView ready = read_conditions(member).ready;
      node.ready = ready.is_true;
      node.ready_changed = ready.changed;
    }
  });
}

}  // namespace
}  // namespace view

Result<NodeView> NodeView::decode(std::string_view json, const KeptKeys* keep) {
  NodeView node;
  view::Metadata metadata;
  RETURN_IF_ERROR(view::decode("node", json, [&](std::string_view member, view::Value value) {
    if (member == "metadata") metadata = view::read_metadata(value);
    if (member == "spec") view::read_node_spec(value, node);
    if (member == "status") view::read_node_status(value, keep, node);
  }));
  RETURN_IF_ERROR(view::take_metadata("node", std::move(metadata), node));
  return node;
}

}  // namespace tpuslice

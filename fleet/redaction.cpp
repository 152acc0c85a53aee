#include "fleet/redaction.h"

#include <map>

namespace tpuslice::fleet {
namespace {

constexpr std::string_view kOther = "another namespace";

/// Asks once for each namespace.
class Reader {
 public:
  explicit Reader(const MayRead& may_read) : may_read_(may_read) {}

  bool may_read(const std::string& namespace_name) {
    const auto known = known_.find(namespace_name);
    if (known != known_.end()) return known->second;
    return known_.emplace(namespace_name, may_read_(namespace_name)).first->second;
  }

 private:
  const MayRead& may_read_;
  std::map<std::string, bool> known_;
};

void redact(FleetSlice& slice, Reader& reader) {
  for (std::string& ahead : slice.behind) {
    if (!reader.may_read(ahead.substr(0, ahead.find('/')))) ahead = kOther;
  }
  if (reader.may_read(slice.workload.namespace_name)) return;
  slice.workload = {};
  slice.slice.clear();
  slice.key.clear();
  slice.reason.clear();
  slice.problem.clear();
  slice.gang.clear();
}

}  // namespace

Fleet redacted(Fleet fleet, const MayRead& may_read, bool may_read_nodes) {
  Reader reader(may_read);
  for (Pool& pool : fleet.pools) {
    for (PoolUser& user : pool.users) {
      if (reader.may_read(user.workload.namespace_name)) continue;
      user.workload = {};
      user.slice.clear();
    }
    if (may_read_nodes) continue;
    pool.nodes.clear();
    pool.problem = pool.problem.empty() ? "" : "a node cannot be used";
  }
  for (FleetSlice& slice : fleet.slices) redact(slice, reader);
  std::erase_if(fleet.attention, [&](const Attention& each) {
    return !each.namespace_name.empty() && !reader.may_read(each.namespace_name);
  });
  if (may_read_nodes) return fleet;
  for (Attention& each : fleet.attention) {
    if (each.namespace_name.empty()) each.text = "a node cannot be used";
  }
  return fleet;
}

std::vector<HistoryRecord> redacted(std::vector<HistoryRecord> history, const MayRead& may_read) {
  Reader reader(may_read);
  std::erase_if(history, [&](const HistoryRecord& record) { return !reader.may_read(record.namespace_name); });
  return history;
}

}  // namespace tpuslice::fleet

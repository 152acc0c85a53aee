#include "fleet/answers/status.h"

#include <map>
#include <tuple>

#include "api/base/earlier.h"
#include "tpu/topology.h"

namespace tpuslice::fleet {
namespace {

void count_pool(const Pool& pool, StatusRow& row) {
  ++row.pools;
  row.chips += pool.chips;
  row.chips_in_use += chips_in_use(pool);
  switch (pool.state) {
    case PoolState::kInUse:
    case PoolState::kPartial:
      ++row.in_use;
      break;
    case PoolState::kFree:
      ++row.free;
      break;
    case PoolState::kReserved:
      ++row.reserved;
      break;
    case PoolState::kBroken:
    case PoolState::kDraining:
      ++row.broken;
      break;
  }
}

}  // namespace

std::int64_t chips_in_use(const Pool& pool) {
  if (pool.wanted_hosts <= 0) return 0;
  return pool.chips * std::min(pool.used_hosts, pool.wanted_hosts) / pool.wanted_hosts;
}

std::vector<StatusRow> status_of(const Fleet& fleet) {
  using Key = std::tuple<std::string, std::int64_t, std::string, std::string>;
  std::map<Key, StatusRow> rows;
  const auto row_of = [&](const auto& of) -> StatusRow& {
    const auto topology = tpu::Topology::parse(of.topology);
    StatusRow& row = rows[Key(of.tpu, topology ? topology->chips() : 0, of.topology, of.accelerator)];
    row.accelerator = of.accelerator;
    row.tpu = of.tpu;
    row.topology = of.topology;
    return row;
  };
  for (const Pool& pool : fleet.pools) count_pool(pool, row_of(pool));
  for (const FleetSlice& slice : fleet.slices) {
    if (slice.state != SliceState::kWaiting) continue;
    StatusRow& row = row_of(slice);
    ++row.waiting;
    if (slice.since) set_earlier(row.oldest, *slice.since);
  }
  std::vector<StatusRow> out;
  out.reserve(rows.size());
  for (auto& [key, row] : rows) out.push_back(std::move(row));
  return out;
}

}  // namespace tpuslice::fleet

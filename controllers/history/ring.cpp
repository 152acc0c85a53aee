#include "controllers/history/ring.h"

#include <algorithm>
#include <utility>

#include "api/base/strings.h"

namespace tpuslice::history {

std::size_t page_of(std::int64_t sequence) { return static_cast<std::size_t>(sequence) / kRecordsPerPage % kPages; }

Ring::Ring(const std::array<std::string, kPages>& pages) {
  for (const std::string& page : pages) {
    if (page.size() > kMaxPageBytes) continue;
    for (const std::string& line : split(page, '\n')) {
      if (std::optional<Record> record = parse_record(line)) {
        const std::int64_t sequence = record->sequence;
        records_.try_emplace(sequence, *std::move(record));
      }
    }
  }
  // A page that was not written since the newest records began to take its place.
  while (!records_.empty() && records_.begin()->first + std::int64_t{kMaxRecords} <= records_.rbegin()->first) {
    records_.erase(records_.begin());
  }
}

const Record* Ring::find(const Record& record) const {
  const auto found = std::ranges::find_if(records_, [&](const auto& each) { return each.second.is_same(record); });
  return found == records_.end() ? nullptr : &found->second;
}

void Ring::append(Record record) {
  if (find(record) != nullptr) return;
  const std::int64_t sequence = records_.empty() ? 0 : records_.rbegin()->first + 1;
  record.sequence = sequence;
  records_.emplace(sequence, std::move(record));
  records_.erase(sequence - std::int64_t{kMaxRecords});
  mark_changed(sequence);
}

void Ring::recover(std::int64_t sequence, Recovery recovery) {
  const auto found = records_.find(sequence);
  if (found == records_.end() || found->second.recovery) return;
  found->second.recovery = std::move(recovery);
  mark_changed(sequence);
}

void Ring::mark_changed(std::int64_t sequence) {
  const std::size_t page = page_of(sequence);
  if (std::ranges::find(changed_, page) == changed_.end()) changed_.push_back(page);
}

std::string Ring::text(std::size_t page) const {
  std::string out;
  for (const auto& [sequence, record] : records_) {
    if (page_of(sequence) == page) out += to_json(record).dump() + "\n";
  }
  return out;
}

}  // namespace tpuslice::history

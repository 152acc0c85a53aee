// Ring: the last kMaxRecords records, in pages, each the text of a ConfigMap. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/history/record.h"

namespace tpuslice::history {

inline constexpr std::size_t kMaxRecords = 1000;
inline constexpr std::size_t kPages = 5;
inline constexpr std::size_t kRecordsPerPage = kMaxRecords / kPages;
/// Bytes of a page at most: 235 KiB.
inline constexpr std::size_t kMaxPageBytes = kRecordsPerPage * (kMaxRecordBytes + 1);

/// A record with the sequence number n is in page n / kRecordsPerPage % kPages, so that a page is written about once
/// for each new record, and takes the place of the record that is a thousand older.
class Ring {
 public:
  Ring() = default;
  /// Lines that are not records are skipped; of two with one sequence number the first counts.
  explicit Ring(const std::array<std::string, kPages>& pages);

  /// By sequence number.
  [[nodiscard]] const std::map<std::int64_t, Record>& records() const { return records_; }
  /// The record of the same interruption; null without one.
  [[nodiscard]] const Record* find(const Record& record) const;

  /// Adds the record behind the newest one, and drops the oldest if there are too many. Not if it is there already.
  void append(Record record);
  void recover(std::int64_t sequence, Recovery recovery);

  /// Pages that differ from those that were read, in the order in which they were changed first.
  [[nodiscard]] const std::vector<std::size_t>& changed() const { return changed_; }
  [[nodiscard]] std::string text(std::size_t page) const;

 private:
  void mark_changed(std::int64_t sequence);

  std::map<std::int64_t, Record> records_;
  std::vector<std::size_t> changed_;
};

[[nodiscard]] std::size_t page_of(std::int64_t sequence);

}  // namespace tpuslice::history

// IndexSet: completion indexes as the status of a Job prints them: "0,2,4-7".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tpuslice::sim {

/// A set of indexes, stored as ranges: a Job may have 100,000.
class IndexSet {
 public:
  /// Ignores numbers that are not below `limit`, and text.
  [[nodiscard]] static IndexSet parse(std::string_view text, int limit);

  void add(int index) { add(index, index); }
  void add(const IndexSet& other);
  [[nodiscard]] bool has(int index) const;
  [[nodiscard]] int size() const;
  /// The number of indexes that are in both sets.
  [[nodiscard]] int common_with(const IndexSet& other) const;
  /// The `count` lowest indexes below `limit` that are not in the set.
  [[nodiscard]] std::vector<int> lowest_missing(int count, int limit) const;
  /// Three or more consecutive indexes are printed as a range.
  [[nodiscard]] std::string to_string() const;

 private:
  void add(int first, int last);

  std::map<int, int> ranges_;  ///< First to last; neither overlapping nor adjacent.
};

}  // namespace tpuslice::sim

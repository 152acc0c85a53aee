// IndexSet: completion indexes as the status of a Job prints them: "0,2,4-7".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tpuslice::sim {

/// A set of numbers from 0 up, kept as ranges: a Job may have 100,000 indexes.
class IndexSet {
 public:
  /// Leaves out what is not below `limit`, and what is no number.
  [[nodiscard]] static IndexSet parse(std::string_view text, int limit);

  void add(int index) { add(index, index); }
  void add(const IndexSet& other);
  [[nodiscard]] bool has(int index) const;
  [[nodiscard]] int size() const;
  /// How many of `other` are in it.
  [[nodiscard]] int common_with(const IndexSet& other) const;
  /// The `count` lowest below `limit` that are not in it.
  [[nodiscard]] std::vector<int> lowest_missing(int count, int limit) const;
  /// Three and more in a row become a range.
  [[nodiscard]] std::string to_string() const;

 private:
  void add(int first, int last);

  std::map<int, int> ranges_;  ///< First to last; they neither overlap nor touch.
};

}  // namespace tpuslice::sim

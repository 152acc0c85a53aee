// Archive: a tar.gz file of a bounded size.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/gzip.h"

namespace tpuslice::plugin {

/// The header of a tar entry (ustar): 512 bytes. `name` has at most 100 characters. Pure.
[[nodiscard]] std::string tar_header(std::string_view name, std::size_t size, Timestamp modified);

class Archive {
 public:
  /// Creates the file, which only its owner may read. `limit`: bytes of all entries, before compression. Errors:
  /// InvalidArgument if it exists or cannot be written.
  static Result<std::unique_ptr<Archive>> create(const std::string& path, std::size_t limit, Timestamp now);

  /// Adds an entry; one that would exceed the limit is cut, and its name kept in cut(). Errors: Unavailable.
  Status add(const std::string& name, std::string_view content);
  Status finish();
  /// Names of entries that are not complete.
  [[nodiscard]] const std::vector<std::string>& cut() const { return cut_; }
  [[nodiscard]] std::size_t entries() const { return entries_; }

 private:
  Archive(const std::string& path, std::size_t limit, Timestamp now)
      : file_(path, std::ios::binary | std::ios::trunc), gzip_(file_), left_(limit), now_(now) {}

  std::ofstream file_;
  GzipWriter gzip_;
  std::size_t left_;
  const Timestamp now_;
  std::size_t entries_ = 0;
  std::vector<std::string> cut_;
};

}  // namespace tpuslice::plugin

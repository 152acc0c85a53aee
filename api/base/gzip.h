// GzipWriter: a gzip file that is written in pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string_view>

#include "api/base/result.h"

namespace tpuslice {

enum class GzipLevel : std::uint8_t { kDefault, kFastest };

/// Used by one thread.
class GzipWriter {
 public:
  /// `out` outlives it.
  explicit GzipWriter(std::ostream& out, GzipLevel level = GzipLevel::kDefault);
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  /// Errors: Unavailable if `out` does not take the bytes.
  Status write(std::string_view bytes);
  /// Ends the file. Errors: as write().
  Status finish();

 private:
  struct Deflater;
  Status deflate(std::string_view bytes, bool last);

  std::ostream& out_;
  const std::unique_ptr<Deflater> deflater_;
};

}  // namespace tpuslice

#include "api/http/server/gzip.h"

#include <zlib.h>

#include "api/base/check.h"
#include "api/base/strings.h"

namespace tpuslice::http {
namespace {

/// Argument of deflateInit2(): the largest window, and a gzip header.
constexpr int kGzipWindow = 15 + 16;
constexpr int kMemoryLevel = 8;

}  // namespace

bool accepts_gzip(const Headers& headers) {
  const std::string* const accepted = find_header(headers, "Accept-Encoding");
  if (accepted == nullptr) return false;
  for (const std::string& each : split(*accepted, ',')) {
    const std::string coding = to_lower(trimmed(each));
    const std::size_t end = coding.find(';');
    if (trimmed(coding.substr(0, end)) != "gzip") continue;
    const std::string weight = end == std::string::npos ? "q=1" : trimmed(coding.substr(end + 1));
    return !weight.starts_with("q=") || weight.find_first_not_of("0.", 2) != std::string::npos;
  }
  return false;
}

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  TPUSLICE_CHECK_MSG(
      deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK, "zlib");
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  // zlib does not change its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // NOLINT
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());  // NOLINT
  stream.avail_out = static_cast<uInt>(out.size());
  const int ended = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  TPUSLICE_CHECK_MSG(ended == Z_STREAM_END, "zlib");
  return out;
}

}  // namespace tpuslice::http

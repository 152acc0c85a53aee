#include "api/base/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>

namespace tpuslice {
namespace {

constexpr std::size_t kBlock = 64U << 10U;
constexpr int kGzipWindow = 15 + 16;  ///< The largest window; 16 adds gzip's head.
constexpr int kMemory = 8;

}  // namespace

struct GzipWriter::Deflater {
  explicit Deflater(int level) {
    if (deflateInit2(&stream, level, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Deflater() { deflateEnd(&stream); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  z_stream stream{};
};

GzipWriter::GzipWriter(std::ostream& out, GzipLevel level)
    : out_(out),
      deflater_(std::make_unique<Deflater>(level == GzipLevel::kFastest ? Z_BEST_SPEED : Z_DEFAULT_COMPRESSION)) {}

GzipWriter::~GzipWriter() = default;

Status GzipWriter::write(std::string_view bytes) {
  while (!bytes.empty()) {  // A length of zlib has 32 bits.
    RETURN_IF_ERROR(deflate(bytes.substr(0, kBlock), false));
    bytes.remove_prefix(std::min(kBlock, bytes.size()));
  }
  return {};
}

Status GzipWriter::finish() { return deflate({}, true); }

Status GzipWriter::deflate(std::string_view bytes, bool last) {
  z_stream& stream = deflater_->stream;
  std::array<char, kBlock> packed{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): zlib does not write its input
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  int result = Z_OK;
  do {
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = packed.size();
    result = ::deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
    out_.write(packed.data(), static_cast<std::streamsize>(packed.size() - stream.avail_out));
  } while (result == Z_OK && stream.avail_out == 0);
  if (!out_ || result == Z_STREAM_ERROR) return Error::unavailable("the gzip file cannot be written");
  return {};
}

}  // namespace tpuslice

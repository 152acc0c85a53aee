#include "api/http/client/gunzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace tpuslice::http {
namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;

class Inflater {
 public:
  Inflater() : ready_(inflateInit2(&stream_, kGzipOnly) == Z_OK) {}
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  [[nodiscard]] bool ready() const { return ready_; }
  [[nodiscard]] z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  const bool ready_;
};

}  // namespace

std::optional<GunzipProblem> gunzip(std::string_view bytes, std::size_t limit, std::string& out) {
  Inflater inflater;
  if (!inflater.ready()) return GunzipProblem::kDamaged;
  z_stream& stream = inflater.stream();
  // zlib takes what it reads as something that it may write.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // NOLINT
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::array<char, 16 * 1024> piece{};
  int state = Z_OK;
  while (state == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());  // NOLINT: bytes are bytes
    stream.avail_out = static_cast<uInt>(piece.size());
    state = inflate(&stream, Z_NO_FLUSH);
    const std::size_t size = piece.size() - stream.avail_out;
    if (size > limit - std::min(limit, out.size())) return GunzipProblem::kTooLong;
    out.append(piece.data(), size);
  }
  if (state != Z_STREAM_END) return GunzipProblem::kDamaged;
  return std::nullopt;
}

}  // namespace tpuslice::http

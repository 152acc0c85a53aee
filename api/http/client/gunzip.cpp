#include "api/http/client/gunzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace tpuslice::http {
namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;

}  // namespace

struct Gunzip::Inflater {
  Inflater() : ready(inflateInit2(&stream, kGzipOnly) == Z_OK) {}
  ~Inflater() {
    if (ready) inflateEnd(&stream);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
  const bool ready;
};

Gunzip::Gunzip() : inflater_(std::make_unique<Inflater>()) {}
Gunzip::~Gunzip() = default;

std::optional<GunzipProblem> Gunzip::unpack(std::string_view& bytes, std::size_t limit, std::string& out) {
  if (!inflater_->ready) return GunzipProblem::kDamaged;
  z_stream& stream = inflater_->stream;
  // zlib takes what it reads as something that it may write.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // NOLINT
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::array<char, std::size_t{16} * 1024> piece{};
  int state = Z_OK;
  while (state == Z_OK && out.size() < limit && (!done_ || stream.avail_in > 0)) {
    // A body may have several members (RFC 1952): API servers end one whenever they flush a streamed list.
    if (done_ && inflateReset(&stream) != Z_OK) return GunzipProblem::kDamaged;
    const std::size_t piece_size = std::min(piece.size(), limit - out.size());
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());  // NOLINT: bytes are bytes
    stream.avail_out = static_cast<uInt>(piece_size);
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(piece.data(), piece_size - stream.avail_out);
    done_ = state == Z_STREAM_END;
    if (done_) state = Z_OK;
  }
  bytes.remove_prefix(bytes.size() - stream.avail_in);
  // Z_BUF_ERROR: it waits for more bytes.
  const bool damaged = state != Z_OK && state != Z_BUF_ERROR;
  return damaged ? std::optional(GunzipProblem::kDamaged) : std::nullopt;
}

std::optional<GunzipProblem> gunzip(std::string_view bytes, std::size_t limit, std::string& out) {
  Gunzip unpacking;
  // One byte more than allowed shows that there is more.
  if (const auto problem = unpacking.unpack(bytes, limit + 1, out)) return problem;
  if (out.size() > limit) return GunzipProblem::kTooLong;
  return unpacking.done() && bytes.empty() ? std::nullopt : std::optional(GunzipProblem::kDamaged);
}

}  // namespace tpuslice::http

// Gunzip: bodies of "Content-Encoding: gzip". Private to api/http.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tpuslice::http {

enum class GunzipProblem : std::uint8_t { kTooLong, kDamaged };

/// Unpacks a body that arrives in pieces.
class Gunzip {
 public:
  Gunzip();
  ~Gunzip();
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  /// Decompresses `bytes` and appends to `out` until it has `limit` bytes; removes the consumed input from `bytes`.
  /// Errors: kDamaged, after which nothing more can be unpacked.
  std::optional<GunzipProblem> unpack(std::string_view& bytes, std::size_t limit, std::string& out);
  /// The end of a member was reached, and nothing after it: the packed body may end here.
  [[nodiscard]] bool done() const { return done_; }

 private:
  struct Inflater;

  const std::unique_ptr<Inflater> inflater_;
  bool done_ = false;
};

/// Unpacks a whole body into `out`. kTooLong: more than `limit` bytes would come of it.
[[nodiscard]] std::optional<GunzipProblem> gunzip(std::string_view bytes, std::size_t limit, std::string& out);

}  // namespace tpuslice::http

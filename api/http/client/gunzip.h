// gunzip(): bodies of "Content-Encoding: gzip". Private to this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tpuslice::http {

enum class GunzipProblem : std::uint8_t { kTooLong, kDamaged };

/// Unpacks `bytes` into `out`. kTooLong: more than `limit` bytes would come of it.
[[nodiscard]] std::optional<GunzipProblem> gunzip(std::string_view bytes, std::size_t limit, std::string& out);

}  // namespace tpuslice::http

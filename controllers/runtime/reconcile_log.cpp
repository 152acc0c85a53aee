#include "controllers/runtime/reconcile_log.h"

#include <unistd.h>

#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "api/base/check.h"

namespace tpuslice::runtime {

std::string random_uuid() {
  std::array<std::uint8_t, 16> bytes{};
  TPUSLICE_CHECK(getentropy(bytes.data(), bytes.size()) == 0);  // Cannot fail for 16 bytes since Linux 3.17.
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0fU) | 0x40U);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3fU) | 0x80U);
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

void ReconcileLog::write(LogLevel level, std::string_view message, LogFields fields) {
  if (!log_.enabled(level)) return;
  if (!bound_) {
    bound_ = log_.with({{"namespace", key_.namespace_name}, {"name", key_.name}, {"reconcileID", random_uuid()}});
  }
  bound_->log(level, message, fields);
}

}  // namespace tpuslice::runtime

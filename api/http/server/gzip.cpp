#include "api/http/server/gzip.h"

#include <sstream>
#include <utility>

#include "api/base/check.h"
#include "api/base/gzip.h"
#include "api/base/strings.h"

namespace tpuslice::http {
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
  std::ostringstream out;
  GzipWriter writer(out, GzipLevel::kFastest);
  TPUSLICE_CHECK(writer.write(bytes).ok());
  TPUSLICE_CHECK(writer.finish().ok());
  return std::move(out).str();
}

}  // namespace tpuslice::http

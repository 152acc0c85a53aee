#include "cmd/kubectl-tpu/archive.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "api/base/file.h"

namespace tpuslice::plugin {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kMaxEntryName = 100;

/// Places of the fields of a header. Source: pax(1), "ustar Interchange Format".
constexpr std::size_t kMode = 100;
constexpr std::size_t kOwner = 108;
constexpr std::size_t kGroup = 116;
constexpr std::size_t kSize = 124;
constexpr std::size_t kModified = 136;
constexpr std::size_t kChecksum = 148;
constexpr std::size_t kType = 156;
constexpr std::size_t kMagic = 257;

void put(std::string& header, std::size_t at, std::string_view text) { header.replace(at, text.size(), text); }

}  // namespace

std::string tar_header(std::string_view name, std::size_t size, Timestamp modified) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(modified.time_since_epoch()).count();
  std::string header(kBlock, '\0');
  put(header, 0, name.substr(0, kMaxEntryName));
  put(header, kMode, "0000600");
  put(header, kOwner, "0000000");
  put(header, kGroup, "0000000");
  put(header, kSize, fmt::format("{:011o}", size));
  put(header, kModified, fmt::format("{:011o}", std::max<std::int64_t>(0, seconds)));
  put(header, kChecksum, "        ");
  put(header, kType, "0");
  put(header, kMagic, std::string_view("ustar\00000", 8));
  const auto sum = std::accumulate(header.begin(), header.end(), 0U,
                                   [](unsigned total, char c) { return total + static_cast<unsigned char>(c); });
  put(header, kChecksum, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return header;
}

Result<std::unique_ptr<Archive>> Archive::create(const std::string& path, std::size_t limit, Timestamp now) {
  RETURN_IF_ERROR(create_private_file(path));
  std::unique_ptr<Archive> archive(new Archive(path, limit, now));
  if (!archive->file_) return Error::invalid_argument("{}: cannot be written", path);
  return archive;
}

Status Archive::add(const std::string& name, std::string_view content) {
  const std::string_view kept = content.substr(0, left_);
  if (kept.size() < content.size()) cut_.push_back(name);
  left_ -= kept.size();
  ++entries_;
  RETURN_IF_ERROR(gzip_.write(tar_header(name, kept.size(), now_)));
  RETURN_IF_ERROR(gzip_.write(kept));
  return gzip_.write(std::string((kBlock - kept.size() % kBlock) % kBlock, '\0'));
}

Status Archive::finish() {
  RETURN_IF_ERROR(gzip_.write(std::string(2 * kBlock, '\0')));
  RETURN_IF_ERROR(gzip_.finish());
  file_.close();
  if (!file_) return Error::unavailable("the archive cannot be written");
  return {};
}

}  // namespace tpuslice::plugin

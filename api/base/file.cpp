#include "api/base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace tpuslice {

Result<std::string> read_file(const std::string& path) {
  std::error_code problem;
  if (!std::filesystem::exists(path, problem)) return Error::not_found("{}: no such file", path);
  if (std::filesystem::is_directory(path, problem)) return Error::invalid_argument("{}: is a directory", path);
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // Inserting an empty buffer sets the fail bit of `text`.
  if (file && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad() || !text) return Error::invalid_argument("{}: cannot be read", path);
  return std::move(text).str();
}

Status write_private_file(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0)
    return Error::invalid_argument("{}: cannot be written: {}", path, std::generic_category().message(errno));
  const ssize_t written = ::write(file, text.data(), text.size());
  ::close(file);
  if (written != static_cast<ssize_t>(text.size())) return Error::invalid_argument("{}: cannot be written", path);
  return {};
}

Status create_private_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0 && errno == EEXIST) return Error::invalid_argument("{}: exists already", path);
  if (file < 0)
    return Error::invalid_argument("{}: cannot be written: {}", path, std::generic_category().message(errno));
  ::close(file);
  return {};
}

}  // namespace tpuslice

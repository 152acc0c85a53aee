// Reading and writing whole files.
#pragma once

#include <string>
#include <string_view>

#include "api/base/result.h"

namespace tpuslice {

/// The bytes of a file. Errors: NotFound if there is no such file; InvalidArgument if it is a directory or cannot be
/// read. Messages begin with the path.
[[nodiscard]] Result<std::string> read_file(const std::string& path);

/// Creates or replaces a file that only its owner may read and write. Errors: InvalidArgument, beginning with the path.
[[nodiscard]] Status write_private_file(const std::string& path, std::string_view text);

/// Creates an empty file that only its owner may read and write. Errors: InvalidArgument, beginning with the
/// path, also if there is a file or symbolic link of this name.
[[nodiscard]] Status create_private_file(const std::string& path);

}  // namespace tpuslice

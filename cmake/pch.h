// What nearly every file includes anyway; never a reason to leave out an #include.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

// Instantiated once, in pch.cpp.
extern template class nlohmann::basic_json<>;

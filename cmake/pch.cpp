// Carries the precompiled header, and the one instantiation of nlohmann::json; see cmake/tpuslice.cmake.
#include <nlohmann/json.hpp>

template class nlohmann::basic_json<>;

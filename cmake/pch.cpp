// Carries the precompiled header; see cmake/tpuslice.cmake.

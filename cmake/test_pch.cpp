// Carries the precompiled header of the tests; see cmake/tpuslice.cmake.

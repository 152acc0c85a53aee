# tpuslice_library, tpuslice_executable and tpuslice_test: every target is made with one of these.

set(TPUSLICE_WARNINGS
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Werror)
# Designated initialisers leave members to their defaults on purpose.
list(APPEND TPUSLICE_WARNINGS -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Unlike GCC, Clang counts sign conversions among -Wconversion.
  list(APPEND TPUSLICE_WARNINGS -Wthread-safety -Wno-sign-conversion)
else()
  # GCC 12 sees overlaps and overruns in std::string concatenation that are not there (GCC bugs 105329, 105651).
  list(APPEND TPUSLICE_WARNINGS -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()

# A little optimisation of the libraries pays for itself when the laws and simulations run. Line tables would cost a tenth of
# the compile time; the sanitizers, which print stacks, have them.
#
# Every preset but release and includes compiles the files of a target eight at a time (CMAKE_UNITY_BUILD), since most of
# a file's compile time is spent on the templates in its headers. So names in anonymous namespaces are unique within a
# target; what two files share belongs in a header. Release compiles each file alone, so every file includes what it uses.
set(CMAKE_CXX_FLAGS_DEV "-O1" CACHE STRING "" FORCE)
set(CMAKE_EXE_LINKER_FLAGS_DEV "" CACHE STRING "" FORCE)
# Line tables, so that the stacks of a crash can be read; the image has them in a file of its own.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG -g1" CACHE STRING "" FORCE)
set(TPUSLICE_HARDENING
    -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS -fstack-protector-strong
    -fstack-clash-protection -fcf-protection)

add_library(tpuslice_options INTERFACE)
target_compile_options(tpuslice_options INTERFACE ${TPUSLICE_WARNINGS})
target_include_directories(tpuslice_options INTERFACE ${PROJECT_SOURCE_DIR})
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  # Unused functions and data are not linked.
  target_compile_options(tpuslice_options INTERFACE ${TPUSLICE_HARDENING} -ffunction-sections -fdata-sections)
  target_link_options(tpuslice_options INTERFACE -pie -Wl,-z,relro,-z,now -Wl,--gc-sections)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
if(TPUSLICE_SANITIZE)
  target_compile_options(tpuslice_options INTERFACE
    -fsanitize=${TPUSLICE_SANITIZE} -g1 -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Sanitizers make its flow analysis see uninitialised reads that are not there, as its manual says.
    target_compile_options(tpuslice_options INTERFACE -Wno-maybe-uninitialized)
  endif()
  if(TPUSLICE_SANITIZE STREQUAL "thread")
    # Boost.Asio fences its handlers beside the locks that order them; ThreadSanitizer sees only the locks.
    target_compile_options(tpuslice_options INTERFACE -Wno-tsan)
  endif()
  target_link_options(tpuslice_options INTERFACE -fsanitize=${TPUSLICE_SANITIZE})
endif()
if(TPUSLICE_FUZZ)
  target_compile_options(tpuslice_options INTERFACE -fsanitize=fuzzer-no-link)  # Coverage for libFuzzer.
endif()
find_program(TPUSLICE_CCACHE ccache)
if(TPUSLICE_CCACHE)
  # Without these settings ccache refuses to cache any compilation that uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${TPUSLICE_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(tpuslice_options INTERFACE -fpch-preprocess)
  endif()
endif()
find_program(TPUSLICE_MOLD mold)
if(TPUSLICE_MOLD AND NOT TPUSLICE_SANITIZE)
  target_link_options(tpuslice_options INTERFACE -fuse-ld=mold)
endif()

# One precompiled header (std, nlohmann-json, fmt) for all libraries, one more (with GoogleTest) for all tests. It declares
# nlohmann::json as instantiated elsewhere: in this library, once, instead of in every file.
add_library(tpuslice_pch STATIC ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
target_link_libraries(tpuslice_pch PUBLIC tpuslice_options nlohmann_json::nlohmann_json fmt::fmt)
target_precompile_headers(tpuslice_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)
if(TPUSLICE_TESTS)
  add_library(tpuslice_test_pch STATIC ${PROJECT_SOURCE_DIR}/cmake/test_pch.cpp)
  target_link_libraries(tpuslice_test_pch PUBLIC
    tpuslice_options nlohmann_json::nlohmann_json fmt::fmt GTest::gmock)
  # Test code is compiled more often than it matters how fast it runs.
  target_compile_options(tpuslice_test_pch PRIVATE -O0)
  target_precompile_headers(tpuslice_test_pch PRIVATE
    ${PROJECT_SOURCE_DIR}/cmake/pch.h <gmock/gmock.h> <gtest/gtest.h>)
endif()

# tpuslice_library(<name> SOURCES a.cpp ... [DEPS tpuslice::x ...] [PRIVATE_DEPS pkg::y ...] [NO_PCH])
# makes tpuslice_<name> with the alias tpuslice::<name>.
function(tpuslice_library name)
  cmake_parse_arguments(ARG "NO_PCH" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(tpuslice_${name} STATIC ${ARG_SOURCES})
  add_library(tpuslice::${name} ALIAS tpuslice_${name})
  target_link_libraries(tpuslice_${name}
    PUBLIC tpuslice_options tpuslice_pch ${ARG_DEPS}
    PRIVATE ${ARG_PRIVATE_DEPS})
  if(NOT ARG_NO_PCH)
    target_precompile_headers(tpuslice_${name} REUSE_FROM tpuslice_pch)
  endif()
endfunction()

# tpuslice_executable(<name> SOURCES ... DEPS ...)
function(tpuslice_executable name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tpuslice_options ${ARG_DEPS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# The tests that `make asan` and `make tsan` run, and the programs of `make test`.
add_custom_target(sanitized_tests)
add_custom_target(first_tests)

# tpuslice_test(<name> SOURCES ... DEPS ... [LABELS unit|laws|sim|...] [TIMEOUT seconds] [SHARDS n] [SLOTS n] [RUNNER script])
# One GoogleTest program, run from the source root so that tests find their data files. SHARDS splits its cases among so
# many ctest entries, <name>_1 to <name>_n. SLOTS is the part of a core that an entry uses, in sixths: 6, the default, for a
# program that computes; 1 for one that mostly waits. tests/support/run_tests.sh fills the slots of all cores. RUNNER is a
# script that runs the program, without SHARDS; its exit status 77 skips the test.
function(tpuslice_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT;SHARDS;SLOTS;RUNNER" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tpuslice_options tpuslice_pch ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  if(ARG_LABELS MATCHES "laws|sim")
    # These compute for long. Without optimisation they would also replace optimised code of the libraries: of an inline
    # function or template, the linker takes the first definition, which is that of the test.
    target_precompile_headers(${name} REUSE_FROM tpuslice_pch)
  else()
    target_compile_options(${name} PRIVATE -O0)
    target_precompile_headers(${name} REUSE_FROM tpuslice_test_pch)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  if(ARG_LABELS MATCHES "unit|laws|sim")
    add_dependencies(sanitized_tests ${name})
  endif()
  if(ARG_LABELS MATCHES "unit|golden|laws|sim")
    add_dependencies(first_tests ${name})
  endif()
  if(NOT ARG_SLOTS)
    set(ARG_SLOTS 6)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(TPUSLICE_SANITIZE)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 4")  # Sanitizers slow the tests down.
  endif()
  if(ARG_SHARDS)
    set(entries)
    foreach(shard RANGE 1 ${ARG_SHARDS})
      math(EXPR index "${shard} - 1")
      add_test(NAME ${name}_${shard}
        COMMAND ${PROJECT_SOURCE_DIR}/tests/support/run_shard.sh ${index} ${ARG_SHARDS} ${name}_${shard} $<TARGET_FILE:${name}>
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
      list(APPEND entries ${name}_${shard})
    endforeach()
  else()
    set(entries ${name})
    add_test(NAME ${name} COMMAND ${ARG_RUNNER} $<TARGET_FILE:${name}> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  endif()
  if(ARG_RUNNER)
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
  endif()
  # Entries that wait or take long start first; entries that compute run in the slots that they leave.
  math(EXPR cost "10 * ${ARG_TIMEOUT} / ${ARG_SLOTS}")
  if(ARG_LABELS STREQUAL "nodes")
    math(EXPR cost "${cost} + 10000")  # They wait for kubelets for minutes.
  endif()
  set_tests_properties(${entries} PROPERTIES
    LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} PROCESSORS ${ARG_SLOTS} COST ${cost})
endfunction()

# tpuslice_text_literals(<variable> <file>): string literals with the text of a file of the source tree, for code that is
# generated. Configures again when the file changes. The standard requires compilers to take 65,536 characters; those that build this
# project have no limit, but warn (-Woverlength-strings).
function(tpuslice_text_literals variable file)
  file(READ ${PROJECT_SOURCE_DIR}/${file} text)
  string(LENGTH "${text}" length)
  set(literals "")
  # Compilers limit the length of a string literal, but concatenate adjacent ones.
  foreach(offset RANGE 0 ${length} 8000)
    string(SUBSTRING "${text}" ${offset} 8000 part)
    string(APPEND literals "R\"asset(${part})asset\"\n")
  endforeach()
  set(${variable} "${literals}" PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
endfunction()

// cpprestsdk's http_client, made safe to include. Private to this folder; the first include of the files that need it.
#pragma once

#include <utility>  // Boost 1.74 uses std::exchange without it.

namespace tpuslice::http {

/// Counts failed tasks whose error was not observed.
void note_unobserved_exception() noexcept;

}  // namespace tpuslice::http

// cpprestsdk's U() macro breaks fmt.
#ifndef _TURN_OFF_PLATFORM_STRING
#define _TURN_OFF_PLATFORM_STRING  // NOLINT: its name is theirs
#endif
// Its own reaction to an unobserved error is to terminate the process. The destructor that does so is inline, so that
// ours replaces the one in the library too.
#define _REPORT_PPLTASK_UNOBSERVED_EXCEPTION() ::tpuslice::http::note_unobserved_exception()  // NOLINT

#include <cpprest/astreambuf.h>
#include <cpprest/http_client.h>
#include <pplx/threadpool.h>

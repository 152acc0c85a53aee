// /debug/log-level: changes the log level of a running process, as kube-apiserver's /debug/flags/v does.
#pragma once

#include "api/base/log.h"
#include "api/http/transport.h"

namespace tpuslice {

/// GET: the level of `log`. PUT: sets it to that in the body, with a log line, until it is set again or the process
/// ends. The answer to both is the level, with a line end; 400 for a body that is none.
[[nodiscard]] http::Response answer_log_level(const http::Request& request, const Logger& log);

}  // namespace tpuslice

// ReconcileLog: the logger of one reconcile. Its lines have the fields of controller-runtime's: namespace, name and
// reconcileID, beside those of the controller.
#pragma once

#include <optional>
#include <string>

#include "api/base/log.h"
#include "api/types/object.h"

namespace tpuslice::runtime {

/// Used by one thread. A reconcile that logs nothing makes no id.
class ReconcileLog {
 public:
  /// `log` and `key` outlive it.
  ReconcileLog(const Logger& log, const ObjectKey& key) : log_(log), key_(key) {}
  ReconcileLog(const ReconcileLog&) = delete;
  ReconcileLog& operator=(const ReconcileLog&) = delete;

  void debug(std::string_view message, LogFields fields) { write(LogLevel::kDebug, message, fields); }
  void info(std::string_view message, LogFields fields) { write(LogLevel::kInfo, message, fields); }
  void warn(std::string_view message, LogFields fields) { write(LogLevel::kWarn, message, fields); }
  void error(std::string_view message, LogFields fields) { write(LogLevel::kError, message, fields); }

 private:
  void write(LogLevel level, std::string_view message, LogFields fields);

  const Logger& log_;
  const ObjectKey& key_;
  std::optional<Logger> bound_;  ///< With the fields of this reconcile, from the first line on.
};

/// A random UUID (version 4), in lower case.
[[nodiscard]] std::string random_uuid();

}  // namespace tpuslice::runtime

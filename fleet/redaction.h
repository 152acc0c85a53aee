// Redaction: a fleet as a reader may see it who has no rights in some namespaces.
#pragma once

#include <functional>
#include <string>

#include "fleet/model.h"

namespace tpuslice::fleet {

/// Whether the reader may list the pods of a namespace.
using MayRead = std::function<bool(const std::string& namespace_name)>;

/// Workloads of other namespaces have no names, reasons and gangs; what needs someone there is left out. Pools, their
/// states and the places in queues stay. If the reader may not see nodes, their names are left out, too.
[[nodiscard]] Fleet redacted(Fleet fleet, const MayRead& may_read, bool may_read_nodes = true);

/// The records of the namespaces that the reader may see.
[[nodiscard]] std::vector<HistoryRecord> redacted(std::vector<HistoryRecord> history, const MayRead& may_read);

}  // namespace tpuslice::fleet

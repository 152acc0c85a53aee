// Tables: the rows that `kubectl get` prints.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "cmd/tpu-slice-sim/resources/resources.h"

namespace tpuslice::sim {

/// One column; a `priority` above 0 is shown only with -o wide.
struct Column {
  std::string name;
  std::string type = "string";
  std::string format;  ///< "name" for the name column.
  std::string description;
  int priority = 0;
  std::function<Json(const Json& object, Timestamp now)> cell;
};

/// The columns of one resource: those of a CRD, of a built-in kind, or name and age.
class TableColumns {
 public:
  explicit TableColumns(const Resource& resource);

  [[nodiscard]] Json definitions() const;
  [[nodiscard]] Json cells(const Json& object, Timestamp now) const;

 private:
  std::vector<Column> columns_;
};

}  // namespace tpuslice::sim

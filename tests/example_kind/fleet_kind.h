#pragma once

#include "controllers/kind/kind.h"

namespace tpuslice::example {

extern const kind::Kind kKind;

}  // namespace tpuslice::example

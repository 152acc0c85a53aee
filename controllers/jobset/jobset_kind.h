#pragma once

#include "controllers/kind/kind.h"

namespace tpuslice::jobset {

extern const kind::Kind kKind;

}  // namespace tpuslice::jobset

// The RayService kind, as the operator knows it (controllers/kind/kind.h).
#pragma once

#include "controllers/kind/kind.h"

namespace tpuslice::rayservice {

extern const kind::Kind kKind;

}  // namespace tpuslice::rayservice

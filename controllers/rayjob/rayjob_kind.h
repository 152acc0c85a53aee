#pragma once

#include "controllers/kind/kind.h"

namespace tpuslice::rayjob {

extern const kind::Kind kKind;

}  // namespace tpuslice::rayjob

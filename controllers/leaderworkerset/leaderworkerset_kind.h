#pragma once

#include "controllers/kind/kind.h"

namespace tpuslice::leaderworkerset {

extern const kind::Kind kKind;

}  // namespace tpuslice::leaderworkerset

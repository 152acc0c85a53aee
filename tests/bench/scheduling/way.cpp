#include "tests/bench/scheduling/way.h"

namespace tpuslice::bench {

std::string_view name_of(Way way) {
  switch (way) {
    case Way::kAffinity:
      return "affinity";
    case Way::kGates:
      return "gates";
    case Way::kPins:
      return "pins";
  }
  return "";
}

std::string_view description_of(Way way) {
  switch (way) {
    case Way::kAffinity:
      return "affinity alone";
    case Way::kGates:
      return "gate, pin and affinity";
    case Way::kPins:
      return "gate and pin";
  }
  return "";
}

}  // namespace tpuslice::bench

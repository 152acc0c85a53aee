#include "tests/bench/scheduling/method.h"

namespace tpuslice::bench {

std::string_view name_of(Method method) {
  switch (method) {
    case Method::kAffinity:
      return "affinity";
    case Method::kGates:
      return "gates";
    case Method::kPins:
      return "pins";
    case Method::kPlaced:
      return "placed";
    case Method::kBound:
      return "bound";
  }
  return "";
}

std::string_view description_of(Method method) {
  switch (method) {
    case Method::kAffinity:
      return "affinity alone";
    case Method::kGates:
      return "gate, pin and affinity";
    case Method::kPins:
      return "gate and pin";
    case Method::kPlaced:
      return "created with pin and affinity";
    case Method::kBound:
      return "created on their nodes";
  }
  return "";
}

}  // namespace tpuslice::bench

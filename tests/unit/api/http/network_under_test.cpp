#include "tests/unit/api/http/support.h"

namespace tpuslice::http::testing {

Result<std::unique_ptr<Transport>> make_transport_under_test(TransportOptions options) {
  return make_network_transport(std::move(options));
}

}  // namespace tpuslice::http::testing

#include "tpu/identity.h"

namespace tpuslice::tpu {

void SliceIdentity::append_address(std::string& text, int host) const {
  host_names.append_to(text, host);
  text += '.';
  text += subdomain;
}

}  // namespace tpuslice::tpu

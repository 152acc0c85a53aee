// Identity: what one side of a TLS connection proves itself with.
#pragma once

#include <string>

namespace tpuslice::http {

/// A certificate chain (leaf first) and the leaf's key, PEM.
struct Identity {
  std::string certificate_chain;
  std::string private_key;
  friend bool operator==(const Identity&, const Identity&) = default;
};

}  // namespace tpuslice::http

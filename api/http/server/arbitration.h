// Arbitration: which address gives something up when connections or bytes have run out. Pure. Private to this folder.
//
// The rule: the address that has the most gives, and it gives to an address that would have less. So of `total`
// connections, of which `n` addresses want as many as they can get, each keeps total/n, and one that asks for fewer
// gets all that it asks for. An address may be one pod of an attacker, or an API server with all of its clients behind
// it.
//
// Protected are the connections of trusted addresses (SessionRegistry::trust), as long as these have no more than half
// of all: addresses that are not trusted cannot take them, however many there are. Trust is earned with a certificate
// of a client, or, in servers without, with a valid request. As anybody may send one of those, it is no more than the
// rule again among those who did.
#pragma once

#include <cstddef>

#include "api/base/clock.h"

namespace tpuslice::http {

/// What one address has: connections, or bytes.
struct Holding {
  std::size_t amount = 0;
  bool is_protected = false;
  Instant since;  ///< When its oldest part that could be given up was last used.
};

/// Whether `a` gives before `b`.
[[nodiscard]] constexpr bool gives_before(const Holding& a, const Holding& b) {
  if (a.is_protected != b.is_protected) return b.is_protected;
  if (a.amount != b.amount) return a.amount > b.amount;
  return a.since < b.since;
}

/// Whether `holder` gives to another address that has `asker`, which includes what it asks for.
[[nodiscard]] constexpr bool gives_to(const Holding& holder, const Holding& asker) {
  if (holder.is_protected && !asker.is_protected) return false;
  if (asker.is_protected && !holder.is_protected) return true;
  return holder.amount > asker.amount;
}

}  // namespace tpuslice::http

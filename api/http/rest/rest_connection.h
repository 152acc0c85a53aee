// RestConnection: one HTTP client of cpprestsdk, used for one call at a time, so that it has one connection. Private to
// this folder.
#pragma once

#include <memory>
#include <string>

#include "api/http/client/connection.h"

namespace tpuslice::http {

/// Used by one thread at a time.
class RestConnection {
 public:
  /// `address` is an IPv4 address of the server. Connects with the first call.
  RestConnection(std::shared_ptr<Connector> connector, const std::string& address);
  ~RestConnection();
  RestConnection(const RestConnection&) = delete;
  RestConnection& operator=(const RestConnection&) = delete;

  /// Sends `call` and reads the whole answer. `unreachable` is set if no connection was made, so that another address
  /// can be tried. Errors: as Transport::call.
  [[nodiscard]] Result<Response> exchange(const Call& call, bool& unreachable);

 private:
  struct Client;
  struct Answer;

  /// Waits until the answer is there or the call must end, which is the returned error.
  [[nodiscard]] std::optional<Error> wait_for(Answer& answer, const Call& call) const;
  [[nodiscard]] Error error_of(const std::exception_ptr& problem, const Call& call, bool& unreachable) const;

  const std::shared_ptr<Connector> connector_;
  const RealClock clock_;
  const std::unique_ptr<Client> client_;
};

}  // namespace tpuslice::http

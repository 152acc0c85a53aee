#include "api/http/rest/received_bytes.h"

// The kernel's header has more members than <netinet/tcp.h>, with which it cannot be combined: so this is a file of its
// own.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace tpuslice::http {

std::uint64_t received_bytes(int descriptor) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (descriptor < 0 || getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return info.tcpi_bytes_received;
}

}  // namespace tpuslice::http

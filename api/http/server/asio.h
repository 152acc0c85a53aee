// Boost.Asio under its short name. Private to this folder.
#pragma once

#include <utility>  // Boost 1.74 uses std::exchange without it.

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>

namespace tpuslice::http {

namespace asio = boost::asio;

}  // namespace tpuslice::http

// Which Asio names does the server use? Coroutines whose operations give (error, value) pairs instead of throwing.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

namespace ferrox {

namespace asio = boost::asio;
using asio::awaitable;
using boost::system::error_code;
using tcp = asio::ip::tcp;

/// Completion token: `co_await op(..., kAwait)` is a tuple that begins with the error code.
inline constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

}  // namespace ferrox

#include "cli/http_get.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <memory>

#include "base/http_url.h"
#include "cli/tls_options.h"

namespace ferrox {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::chrono::seconds kPatience{30};

http::request<http::empty_body> make_request(const HttpUrl& url, const std::string& path, const std::string& key) {
  http::request<http::empty_body> request{http::verb::get, path, 11};
  request.set(http::field::host, url.authority());
  request.set(http::field::connection, "close");
  if (!key.empty()) request.set(http::field::authorization, "Bearer " + key);
  return request;
}

}  // namespace

Result<std::string> http_get(const std::string& url, const std::string& path, const std::string& key,
                             const TlsTrust& trust) {
  TRY_ASSIGN(const HttpUrl address, parse_http_url("--url", url));
  if (!address.path.empty()) {
    return make_error(ErrorCode::kInvalidArgument, "--url: expected http://host:port or https://host:port, found '{}'",
                      url);
  }
  TRY(check_tls_options(trust, address));
  std::unique_ptr<boost::asio::ssl::context> tls;
  if (address.is_tls) {
    TRY_ASSIGN(tls, open_client_tls(trust));
  }
  boost::asio::io_context io;
  ClientStream stream(io, tls.get(), address.host);
  beast::flat_buffer buffer;
  http::response<http::string_body> response;
  http::request<http::empty_body> request = make_request(address, path, key);
  beast::error_code failure;
  const auto exchange = [&]() -> boost::asio::awaitable<void> {
    constexpr auto kResult = boost::asio::use_awaitable;
    boost::asio::ip::tcp::resolver resolver(io);
    stream.expires_after(kPatience);
    const auto addresses = co_await resolver.async_resolve(address.host, address.port, kResult);
    co_await stream.connect(addresses);
    co_await stream.handshake();
    co_await http::async_write(stream, request, kResult);
    co_await http::async_read(stream, buffer, response, kResult);
  };
  boost::asio::co_spawn(io, exchange, [&](const std::exception_ptr& error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const boost::system::system_error& caught) {
      failure = caught.code();
    }
  });
  io.run();
  if (failure) return make_error(ErrorCode::kUnavailable, "{}{}: {}", url, path, failure.message());
  if (response.result() != http::status::ok) {
    return make_error(ErrorCode::kUnavailable, "{}{}: expected status 200, found {}: {}", url, path,
                      response.result_int(), response.body());
  }
  return response.body();
}

}  // namespace ferrox

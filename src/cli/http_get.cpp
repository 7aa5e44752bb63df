#include "cli/http_get.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <chrono>

namespace ferrox {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::chrono::seconds kPatience{30};

struct Address {
  std::string host;
  std::string port;
};

Result<Address> parse_url(const std::string& url) {
  constexpr std::string_view kScheme = "http://";
  std::string_view rest = url;
  if (rest.starts_with(kScheme)) rest.remove_prefix(kScheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const size_t colon = rest.rfind(':');
  const bool has_port = colon != std::string_view::npos && rest.find(']', colon) == std::string_view::npos;
  std::string_view host = rest.substr(0, has_port ? colon : rest.size());
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty() || host.find_first_of("/?#@") != std::string_view::npos) {
    return make_error(ErrorCode::kInvalidArgument, "--url: expected http://host:port, found '{}'", url);
  }
  return Address{std::string(host), has_port ? std::string(rest.substr(colon + 1)) : "80"};
}

http::request<http::empty_body> make_request(const Address& address, const std::string& path, const std::string& key) {
  http::request<http::empty_body> request{http::verb::get, path, 11};
  request.set(http::field::host, address.host);
  request.set(http::field::connection, "close");
  if (!key.empty()) request.set(http::field::authorization, "Bearer " + key);
  return request;
}

}  // namespace

Result<std::string> http_get(const std::string& url, const std::string& path, const std::string& key) {
  TRY_ASSIGN(const Address address, parse_url(url));
  boost::asio::io_context io;
  beast::tcp_stream stream(io);
  beast::flat_buffer buffer;
  http::response<http::string_body> response;
  http::request<http::empty_body> request = make_request(address, path, key);
  beast::error_code failure;
  const auto exchange = [&]() -> boost::asio::awaitable<void> {
    constexpr auto kResult = boost::asio::use_awaitable;
    boost::asio::ip::tcp::resolver resolver(io);
    stream.expires_after(kPatience);
    co_await stream.async_connect(co_await resolver.async_resolve(address.host, address.port, kResult), kResult);
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

#include "loadgen/http_stream.h"

#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include "loadgen/answer_reader.h"
#include "loadgen/stream_event.h"

namespace ferrox {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr auto kResult = asio::use_awaitable;

/// Far beyond any answer: what is longer is no answer, and is never held whole.
constexpr uint64_t kMostBodyBytes = uint64_t{256} << 20;
constexpr size_t kMostRefusalBytes = 64 << 10;

using StreamParser = http::response_parser<http::string_body>;

http::request<http::string_body> make_request(const StreamTarget& target, const std::string& body) {
  // Paths as users copy them, ".../v1", mean the same.
  const std::string base =
      target.url.path.ends_with("/v1") ? target.url.path.substr(0, target.url.path.size() - 3) : target.url.path;
  http::request<http::string_body> request{http::verb::post, base + target.path, 11};
  request.set(http::field::host, target.url.authority());
  request.set(http::field::content_type, "application/json");
  request.set(http::field::accept, "text/event-stream");
  request.set(http::field::connection, "close");
  if (!target.api_key.empty()) request.set(http::field::authorization, "Bearer " + target.api_key);
  request.body() = body;
  request.prepare_payload();
  return request;
}

std::string failure_message(const char* step, const beast::error_code& error) {
  if (error == beast::error::timeout) return fmt::format("{}: expected it within --timeout, found no end", step);
  if (error == http::error::partial_message || error == http::error::end_of_stream) {
    return fmt::format("{}: expected more, found the connection closed", step);
  }
  return fmt::format("{}: {}", step, one_line(error.message()));
}

/// One exchange; `step` says where it is when something throws.
class HttpExchange {
 public:
  HttpExchange(beast::tcp_stream& stream, const RunClock& clock, RequestRecord& record,
               std::optional<size_t> drop_after)
      : stream_(stream), clock_(clock), record_(record), reader_(record, drop_after) {
    parser_.body_limit(kMostBodyBytes);
  }

  asio::awaitable<void> run(const StreamTarget& target, const StreamRequest& request) {
    const auto message = make_request(target, request.body);
    stream_.expires_after(request.timeout);
    co_await stream_.async_connect(target.addresses, kResult);
    step_ = "request";
    co_await http::async_write(stream_, message, kResult);
    if (request.drop_after == size_t{0}) {
      record_.outcome = Outcome::kCancelled;
      co_return;
    }
    step_ = "head of the answer";
    co_await http::async_read_header(stream_, buffer_, parser_, kResult);
    record_.status = parser_.get().result_int();
    step_ = "answer";
    if (record_.status != 200) {
      co_await read_refusal();
    } else {
      co_await read_events();
    }
  }

  const char* step() const { return step_; }
  const std::string& content() const { return reader_.content(); }

 private:
  /// What the body brought since the last call.
  std::string take_body() { return std::exchange(parser_.get().body(), {}); }

  asio::awaitable<void> read_refusal() {
    record_.outcome = Outcome::kRefused;
    record_.error = fmt::format("status {}", record_.status);
    std::string body = take_body();
    while (!parser_.is_done() && body.size() < kMostRefusalBytes) {
      co_await http::async_read_some(stream_, buffer_, parser_, kResult);
      body += take_body();
    }
    if (const auto message = message_of_refusal(body); !message.empty()) record_.error += ": " + message;
  }

  asio::awaitable<void> read_events() {
    const std::string type(parser_.get()[http::field::content_type]);
    if (!type.empty() && !type.starts_with("text/event-stream")) {
      record_.outcome = Outcome::kFailed;
      record_.error = "content-type: expected text/event-stream, found " + one_line(type);
      co_return;
    }
    while (reader_.take(take_body(), clock_.now_ms())) {
      if (parser_.is_done()) {
        reader_.finish();
        co_return;
      }
      co_await http::async_read_some(stream_, buffer_, parser_, kResult);
    }
  }

  beast::tcp_stream& stream_;
  const RunClock& clock_;
  RequestRecord& record_;
  AnswerReader reader_;
  beast::flat_buffer buffer_;
  StreamParser parser_;
  const char* step_ = "connect";
};

}  // namespace

asio::awaitable<std::string> stream_request(beast::tcp_stream& stream, const StreamTarget& target,
                                            const StreamRequest& request, const RunClock& clock,
                                            RequestRecord& record) {
  record.sent_ms = clock.now_ms();
  HttpExchange exchange(stream, clock, record, request.drop_after);
  std::string failure;
  try {
    co_await exchange.run(target, request);
  } catch (const boost::system::system_error& error) {
    failure = failure_message(exchange.step(), error.code());
  } catch (const std::exception& error) {
    failure = fmt::format("{}: {}", exchange.step(), one_line(error.what()));
  }
  // A refusal stays one, whatever becomes of its body.
  if (!failure.empty() && record.outcome != Outcome::kRefused) {
    record.outcome = Outcome::kFailed;
    record.error = std::move(failure);
  }
  stream.close();
  record.end_ms = clock.now_ms();
  co_return exchange.content();
}

}  // namespace ferrox

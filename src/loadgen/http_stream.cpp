#include "loadgen/http_stream.h"

#include <boost/asio/ssl/error.hpp>
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
  if (target.use == ConnectionUse::kOnce) request.set(http::field::connection, "close");
  if (!target.api_key.empty()) request.set(http::field::authorization, "Bearer " + target.api_key);
  request.body() = body;
  request.prepare_payload();
  return request;
}

/// How a connection looks that the server ended while nothing was under way.
bool is_end(const beast::error_code& error) {
  return error == http::error::end_of_stream || error == asio::error::eof || error == asio::error::connection_reset ||
         error == asio::error::broken_pipe || error == asio::ssl::error::stream_truncated;
}

std::string failure_message(const char* step, const beast::error_code& error) {
  if (error == beast::error::timeout) return fmt::format("{}: expected it within --timeout, found no end", step);
  if (error == http::error::partial_message || is_end(error)) {
    return fmt::format("{}: expected more, found the connection closed", step);
  }
  return fmt::format("{}: {}", step, one_line(error.message()));
}

/// One exchange; `step` says where it is when something throws.
class HttpExchange {
 public:
  HttpExchange(ClientStream& stream, const RunClock& clock, RequestRecord& record, std::optional<size_t> drop_after)
      : stream_(stream), clock_(clock), record_(record), reader_(record, drop_after) {
    parser_.body_limit(kMostBodyBytes);
  }

  asio::awaitable<void> run(const StreamTarget& target, const StreamRequest& request) {
    const auto message = make_request(target, request.body);
    if (!stream_.is_connected()) {
      co_await stream_.connect(target.addresses);
      step_ = "TLS";
      co_await stream_.handshake();
    }
    step_ = "request";
    co_await http::async_write(stream_, message, kResult);
    if (request.drop_after == size_t{0}) {
      record_.outcome = Outcome::kCancelled;
      co_return;
    }
    step_ = "head of the answer";
    co_await http::async_read_header(stream_, buffer_, parser_, kResult);
    record_.status = parser_.get().result_int();
    has_answer_ = true;
    step_ = "answer";
    if (record_.status != 200) {
      co_await read_refusal();
    } else {
      co_await read_events();
    }
  }

  const char* step() const { return step_; }
  bool has_answer() const { return has_answer_ || buffer_.size() > 0; }

  /// Reads what may still follow an answer that is settled, so that the connection can carry another request. False: it
  /// can't. Throws.
  asio::awaitable<bool> reach_end() {
    constexpr std::chrono::milliseconds kPatience{250};  // the end of a body comes with its last event, or just after
    constexpr size_t kMostBytes = 4096;
    if (!has_answer_ || parser_.need_eof() || !parser_.keep_alive()) co_return false;
    stream_.expires_after(kPatience);
    size_t n_bytes = 0;
    while (!parser_.is_done()) {
      co_await http::async_read_some(stream_, buffer_, parser_, kResult);
      n_bytes += take_body().size();
      if (n_bytes > kMostBytes) co_return false;
    }
    co_return buffer_.size() == 0;
  }
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

  ClientStream& stream_;
  const RunClock& clock_;
  RequestRecord& record_;
  AnswerReader reader_;
  beast::flat_buffer buffer_;
  StreamParser parser_;
  const char* step_ = "connect";
  bool has_answer_ = false;
};

/// What an attempt came to.
struct Attempt {
  std::string content;
  std::string failure;    ///< empty: none
  bool is_stale = false;  ///< the server had ended the connection before the request came
  bool is_reusable = false;
};

asio::awaitable<bool> reaches_end(HttpExchange& exchange) {
  try {
    co_return co_await exchange.reach_end();
  } catch (const std::exception&) {
    co_return false;
  }
}

asio::awaitable<Attempt> try_request(ClientStream& stream, const StreamTarget& target, const StreamRequest& request,
                                     const RunClock& clock, RequestRecord& record) {
  const bool was_connected = stream.is_connected();
  HttpExchange exchange(stream, clock, record, request.drop_after);
  Attempt attempt;
  try {
    co_await exchange.run(target, request);
  } catch (const boost::system::system_error& error) {
    attempt.is_stale = was_connected && !exchange.has_answer() && is_end(error.code());
    attempt.failure = failure_message(exchange.step(), error.code());
  } catch (const std::exception& error) {
    attempt.failure = fmt::format("{}: {}", exchange.step(), one_line(error.what()));
  }
  record.end_ms = clock.now_ms();
  const bool is_whole = record.outcome == Outcome::kOk || record.outcome == Outcome::kRefused;
  if (target.use == ConnectionUse::kKept && attempt.failure.empty() && is_whole) {
    attempt.is_reusable = co_await reaches_end(exchange);
  }
  attempt.content = exchange.content();
  co_return attempt;
}

}  // namespace

asio::awaitable<std::string> stream_request(ClientStream& stream, const StreamTarget& target,
                                            const StreamRequest& request, const RunClock& clock,
                                            RequestRecord& record) {
  record.sent_ms = clock.now_ms();
  stream.expires_after(request.timeout);
  Attempt attempt = co_await try_request(stream, target, request, clock, record);
  if (attempt.is_stale) {
    stream.close();
    attempt = co_await try_request(stream, target, request, clock, record);
  }
  // A refusal stays one, whatever becomes of its body.
  if (!attempt.failure.empty() && record.outcome != Outcome::kRefused) {
    record.outcome = Outcome::kFailed;
    record.error = std::move(attempt.failure);
  }
  if (!attempt.is_reusable) stream.close();
  co_return std::move(attempt.content);
}

}  // namespace ferrox

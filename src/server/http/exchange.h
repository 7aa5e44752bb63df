// How does a handler answer one request? Whole, or as a stream; and how does it learn that the client went away?
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "server/http/asio.h"
#include "server/http/message.h"

namespace ferrox {

/// One request and its answer. Used on the I/O thread only.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual const HttpRequest& request() const = 0;
  virtual HttpRequest& request() = 0;

  /// Sends a whole answer, and lets the request's ticket go before. False: the client can't be reached any more.
  virtual awaitable<bool> respond(HttpResponse response) = 0;

  /// Sends the status line and headers of an answer whose body follows in pieces (`head.body` is ignored).
  virtual awaitable<bool> begin_stream(HttpResponse head) = 0;
  /// Sends one piece. Returns when the kernel took it; false after the write timeout or a broken connection.
  virtual awaitable<bool> write(std::string piece) = 0;
  virtual awaitable<bool> end_stream() = 0;

  /// True once a status line was sent.
  virtual bool answered() const = 0;

  /// From now on the connection is read while the answer is made. `on_gone` is called once, when the client closed its
  /// side. A client that only half-closed looks the same as one that left, and a proxy half-closes when its own client
  /// leaves, so both end the work. nullptr: nobody is told any more.
  virtual void watch_client(std::function<void()> on_gone) = 0;
  virtual bool client_gone() const = 0;

  /// Breaks the connection: a pending write fails at once, and the client counts as gone.
  virtual void abort() = 0;
};

/// How an exchange went.
struct HttpOutcome {
  int status = 0;            ///< of the answer; 0: none was sent, since the client left
  bool is_complete = false;  ///< all of the answer was sent
  std::string error_code;    ///< the answer's
};

/// What the transport serves. Knows requests and answers, not sockets.
class HttpService {
 public:
  virtual ~HttpService() = default;

  /// Looks at a request before its body is read: an answer here spares the upload.
  virtual std::optional<HttpResponse> refuse(HttpRequest& head) = 0;

  /// Answers a request. Must answer or leave the connection to be closed; must not throw.
  virtual awaitable<void> serve(Exchange& exchange) = 0;

  /// A refusal that the transport itself makes (malformed request, body too large). `head`: what was read of the
  /// request; its id at least.
  virtual HttpResponse transport_error(const HttpRequest& head, int status, const std::string& message) const = 0;

  /// A request is over: called once for each whose head was read, and for those that the transport refused.
  virtual void finished(const HttpRequest& request, const HttpOutcome& outcome) = 0;

  /// False: connections are closed after the answer in progress; a new one has one request answered.
  virtual bool keep_alive() const = 0;
};

}  // namespace ferrox

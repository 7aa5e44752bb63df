// How long is somebody told that a client went away? As long as this lives.
#pragma once

#include <functional>
#include <utility>

#include "server/http/exchange.h"

namespace ferrox {

class ClientWatch {
 public:
  /// As Exchange::watch_client. `exchange` and what on_gone uses outlive the watch.
  ClientWatch(Exchange& exchange, std::function<void()> on_gone) : exchange_(exchange) {
    exchange_.watch_client(std::move(on_gone));
  }
  ~ClientWatch() { exchange_.watch_client(nullptr); }
  ClientWatch(const ClientWatch&) = delete;
  ClientWatch& operator=(const ClientWatch&) = delete;

 private:
  Exchange& exchange_;
};

}  // namespace ferrox

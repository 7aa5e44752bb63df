// How is work done for a client on a worker? Not at all, when the client left before its turn came.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "server/app.h"
#include "server/http/client_watch.h"

namespace ferrox {

namespace client_work_detail {

template <class T>
std::function<ApiResult<T>()> unless_gone(std::shared_ptr<const std::atomic<bool>> is_gone,
                                          std::function<ApiResult<T>()> work) {
  return [gone = std::move(is_gone), then = std::move(work)]() -> ApiResult<T> {
    if (*gone) return client_closed();
    return then();
  };
}

}  // namespace client_work_detail

/// What `work` gives, on a worker thread. 499 when the client has left meanwhile: nobody would read what follows.
template <class T>
awaitable<ApiResult<T>> work_for_client(App& app, Exchange& exchange, std::function<ApiResult<T>()> work) {
  const auto is_gone = std::make_shared<std::atomic<bool>>(false);
  std::function<void()> on_gone = [is_gone] { *is_gone = true; };
  const ClientWatch watch(exchange, std::move(on_gone));
  std::function<ApiResult<T>()> task = client_work_detail::unless_gone<T>(is_gone, std::move(work));
  ApiResult<T> done = co_await app.on_worker(std::move(task));
  if (exchange.client_gone()) co_return client_closed();
  co_return done;
}

}  // namespace ferrox

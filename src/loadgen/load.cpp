#include "loadgen/load.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <csignal>
#include <memory>
#include <unordered_set>
#include <utility>

#include "base/descriptor_limit.h"
#include "loadgen/http_stream.h"

namespace ferrox {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

/// One run, on one thread.
class LoadRun {
 public:
  LoadRun(const LoadOptions& options, const Scenario& scenario) : options_(options), scenario_(scenario) {
    records_.resize(scenario.n_requests());
    for (size_t index = 0; index < scenario.n_conversations(); ++index) {
      for (size_t i = 0; i < scenario.n_turns(index); ++i) {
        RequestRecord& record = records_[scenario.first_request(index) + i];
        record.conversation = index;
        record.turn = i;
      }
    }
  }

  Result<void> prepare_tls() {
    if (!options_.url.is_tls) return {};
    TRY_ASSIGN(tls_, open_client_tls(options_.tls));
    return {};
  }

  Result<void> find_host() {
    error_code error;
    asio::ip::tcp::resolver resolver(io_);
    target_.url = options_.url;
    target_.path = endpoint_path(options_.body.endpoint);
    target_.api_key = options_.api_key;
    target_.use = options_.connections;
    target_.addresses = resolver.resolve(options_.url.host, options_.url.port, error);
    if (!error) return {};
    return make_error(ErrorCode::kUnavailable, "host '{}': expected a name or an address, found none: {}",
                      options_.url.host, error.message());
  }

  LoadResult run() {
    if (options_.handle_signals) watch_signals();
    clock_ = {};
    if (options_.arrivals) {
      begin([this] { return send_by_schedule(); });
    } else {
      const size_t n_places = std::min(options_.concurrency, scenario_.n_conversations());
      for (size_t i = 0; i < n_places; ++i) begin([this] { return fill_place(); });
    }
    io_.run();
    return {std::move(records_), interrupted_};
  }

 private:
  /// Counts a coroutine until its end: the last one ends the wait for signals as well.
  template <class Work>
  void begin(Work work) {
    ++n_active_;
    asio::co_spawn(io_, std::move(work), [this](const std::exception_ptr& error) {
      if (--n_active_ == 0) signals_.cancel();
      if (error) std::rethrow_exception(error);
    });
  }

  void watch_signals() {
    signals_.add(SIGINT);
    signals_.async_wait([this](const error_code& error, int) {
      if (error) return;
      interrupted_ = true;
      signals_.clear();
      timer_.cancel();
      for (ClientStream* stream : streams_) stream->close();
    });
  }

  asio::awaitable<void> fill_place() {
    while (!interrupted_ && next_ < scenario_.n_conversations()) co_await hold(next_++, clock_.now_ms());
  }

  asio::awaitable<void> send_by_schedule() {
    const auto times_s = arrival_times_s(*options_.arrivals, scenario_.n_conversations());
    for (size_t i = 0; i < times_s.size() && !interrupted_; ++i) {
      const std::chrono::duration<double> due(times_s[i]);
      timer_.expires_at(clock_.began + std::chrono::duration_cast<std::chrono::steady_clock::duration>(due));
      error_code ignored;
      co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      if (interrupted_) break;
      begin([this, i, due_ms = times_s[i] * 1000] { return hold(i, due_ms); });
    }
  }

  /// All turns of one conversation; the first was due at `due_ms`.
  asio::awaitable<void> hold(size_t index, double due_ms) {
    const Conversation turns = scenario_.conversation(index);
    Dialogue dialogue;
    for (size_t i = 0; i < turns.size() && !interrupted_; ++i) {
      RequestRecord& record = records_[scenario_.first_request(index) + i];
      record.due_ms = i == 0 ? due_ms : clock_.now_ms();
      dialogue.add_turn(turns[i].text);
      const StreamRequest request{dialogue.body(options_.body, turns[i].output_tokens), turns[i].drop_after,
                                  options_.timeout};
      std::string answer = co_await send(request, record);
      if (record.outcome != Outcome::kOk) co_return;
      dialogue.add_answer(std::move(answer));
    }
  }

  /// The connection that was used last, which the server is the least likely to have ended, or a new one.
  std::unique_ptr<ClientStream> take_stream() {
    if (idle_.empty()) return std::make_unique<ClientStream>(io_, tls_.get(), options_.url.host);
    std::unique_ptr<ClientStream> stream = std::move(idle_.back());
    idle_.pop_back();
    return stream;
  }

  asio::awaitable<std::string> send(const StreamRequest& request, RequestRecord& record) {
    std::unique_ptr<ClientStream> stream = take_stream();
    streams_.insert(stream.get());
    std::string answer = co_await stream_request(*stream, target_, request, clock_, record);
    streams_.erase(stream.get());
    if (stream->is_connected()) idle_.push_back(std::move(stream));
    if (interrupted_ && record.outcome == Outcome::kFailed) {
      record.outcome = Outcome::kCancelled;
      record.error.clear();
    }
    co_return answer;
  }

  const LoadOptions& options_;
  const Scenario& scenario_;
  std::unique_ptr<asio::ssl::context> tls_;
  asio::io_context io_{1};
  asio::steady_timer timer_{io_};
  asio::signal_set signals_{io_};
  StreamTarget target_;
  RunClock clock_;
  std::vector<RequestRecord> records_;
  std::unordered_set<ClientStream*> streams_;
  std::vector<std::unique_ptr<ClientStream>> idle_;
  size_t next_ = 0;
  size_t n_active_ = 0;
  bool interrupted_ = false;
};

/// The connections that a run may hold at once.
size_t most_connections(const LoadOptions& options, const Scenario& scenario) {
  return options.arrivals ? scenario.n_conversations() : std::min(options.concurrency, scenario.n_conversations());
}

}  // namespace

Result<LoadResult> run_load(const LoadOptions& options, const Scenario& scenario) {
  constexpr uint64_t kOthers = 64;  // standard streams, epoll, whatever the program has open
  raise_descriptor_limit(most_connections(options, scenario) + kOthers);
  LoadRun run(options, scenario);
  TRY(run.prepare_tls());
  TRY(run.find_host());
  return run.run();
}

}  // namespace ferrox

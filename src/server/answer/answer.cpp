// How does an answer wait for its events, and what ends it early?
#include "server/answer/answer.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "server/answer/answer_piece.h"
#include "server/caller.h"
#include "server/dialect.h"
#include "server/generation.h"
#include "server/http/client_watch.h"
#include "server/record/summary_line.h"
#include "server/streams/resumable.h"
#include "server/streams/stream_reader.h"
#include "server/streams/stream_run.h"

namespace ferrox {
namespace {

using std::chrono::milliseconds;

/// A whole answer has nothing to say meanwhile; waking now and then costs nothing.
constexpr milliseconds kWholeAnswerWait{60'000};
/// Of a whole answer whose body is made at once: with 20 log-probabilities each they are a megabyte or two of JSON.
/// More would hold up everybody.
constexpr size_t kShortAnswerEvents = 1024;

const Error* find_error(const std::vector<ChoiceEvent>& events) {
  for (const ChoiceEvent& event : events) {
    if (const auto* error = std::get_if<Error>(&event.event)) return error;
  }
  return nullptr;
}

awaitable<void> refuse(Exchange& exchange, const ApiError& error, const std::vector<HttpHeader>& headers) {
  HttpResponse response = refusal(exchange.request(), error);
  response.headers.insert(response.headers.end(), headers.begin(), headers.end());
  co_await exchange.respond(std::move(response));
}

awaitable<void> respond(Exchange& exchange, const AnswerJob& job, std::string body) {
  HttpResponse response;
  response.headers = job.headers;
  add_dialect_headers(exchange.request(), response.headers);
  response.body = std::move(body);
  co_await exchange.respond(std::move(response));
}

/// No coroutine: the frame of one would hold the lambda, which has no linkage.
awaitable<std::string> body_on_worker(App& app, const AnswerWriter& writer) {
  return app.on_worker([&writer] { return writer.whole_body(); });
}

/// Gives what was answered when all of it ended by itself.
awaitable<std::optional<EndedAnswer>> answer_whole(App& app, Exchange& exchange, Generation& generation,
                                                   const AnswerJob& job, AnswerWriter& writer) {
  std::vector<FinishReason> reasons;
  size_t n_events = 0;
  while (!generation.finished()) {
    const auto events = co_await generation.take(kWholeAnswerWait);
    if (exchange.client_gone()) {
      co_await refuse(exchange, client_closed(), job.headers);
      co_return std::nullopt;
    }
    if (const Error* error = find_error(events)) {
      co_await refuse(exchange, app.run_failure(*error), job.headers);
      co_return std::nullopt;
    }
    n_events += events.size();
    for (const ChoiceEvent& event : events) {
      writer.collect(event);
      if (const auto* done = std::get_if<DoneEvent>(&event.event)) reasons.push_back(done->reason);
    }
  }
  std::string body;
  if (n_events > kShortAnswerEvents) {
    body = co_await body_on_worker(app, writer);
  } else {
    body = writer.whole_body();
  }
  std::optional<EndedAnswer> ended = EndedAnswer::make(body, reasons);
  co_await respond(exchange, job, std::move(body));
  co_return ended;
}

/// What is written next, to a client that may have left or wait for long.
AnswerPiece told_piece(App& app, const Exchange& exchange, const Generation& generation, AnswerWriter& writer,
                       const std::vector<ChoiceEvent>& events) {
  if (exchange.client_gone()) return {writer.error_event(client_closed()), std::nullopt, true};
  if (events.empty()) return {writer.waiting_event(), std::nullopt, false};
  AnswerPiece piece = next_piece(app, generation, writer, events);
  if (piece.failure) piece.bytes += writer.error_event(*piece.failure);
  return piece;
}

awaitable<void> answer_stream(App& app, Exchange& exchange, Generation& generation, const AnswerJob& job,
                              AnswerWriter& writer) {
  auto events = co_await generation.take(app.options().first_event_wait);
  if (exchange.client_gone()) co_return;
  if (const Error* error = find_error(events)) {
    co_await refuse(exchange, app.run_failure(*error), job.headers);
    co_return;
  }
  HttpResponse head = event_stream_head(exchange.request(), job.headers);
  if (!co_await exchange.begin_stream(std::move(head))) co_return;
  std::string opening = writer.opening_events();
  if (!co_await exchange.write(std::move(opening))) co_return;
  for (;;) {
    AnswerPiece piece = told_piece(app, exchange, generation, writer, events);
    if (!co_await exchange.write(std::move(piece.bytes))) co_return;
    if (piece.is_last) break;
    events = co_await generation.take(app.options().keepalive_interval);
  }
  co_await exchange.end_stream();
}

/// What its answer is kept under; empty: it isn't.
std::string key_of(App& app, const HttpRequest& request, const AnswerJob& job) {
  if (!app.responses().is_on() || !job.is_repeatable || job.delivery != Delivery::kWhole) return "";
  return response_key(job.requests.front().cache_space, request.path, request.body);
}

/// The body of an answer that was kept, and a header that says so.
std::optional<std::string> find_kept(ResponseCache& responses, const std::string& key, AnswerJob& job) {
  if (!responses.is_on()) return std::nullopt;
  const std::string* kept = nullptr;
  if (key.empty()) {
    responses.skip();
  } else {
    kept = responses.find(key, std::chrono::steady_clock::now());
  }
  job.headers.push_back({"x-ferrox-response-cache", key.empty() ? "skip" : kept == nullptr ? "miss" : "hit"});
  if (kept == nullptr) return std::nullopt;
  return *kept;
}

/// The stream is made by a coroutine of its own, of which this exchange is the first reader.
awaitable<void> answer_resumable(App& app, Exchange& exchange, AnswerJob job, std::unique_ptr<AnswerWriter> writer) {
  const HttpRequest& request = exchange.request();
  auto generation = std::make_unique<Generation>(app, request, [] {});
  if (const auto submitted = generation->submit(std::move(job.requests)); !submitted) {
    co_await refuse(exchange, submitted.error(), job.headers);
    co_return;
  }
  const std::shared_ptr<HeldStream> stream =
      app.streams().open(request.caller, std::move(writer), std::chrono::steady_clock::now());
  start_stream(app, stream, std::move(generation));
  co_await send_events(app, exchange, *stream, 0, std::move(job.headers));
}

/// What runs for this exchange ends with it.
awaitable<std::optional<EndedAnswer>> answer_attached(App& app, Exchange& exchange, AnswerJob job,
                                                      AnswerWriter& writer) {
  Generation generation(app, exchange.request(), [&exchange] { exchange.abort(); });
  const ClientWatch watch(exchange, [&generation] {
    generation.cancel();
    generation.wake();
  });
  if (const auto submitted = generation.submit(std::move(job.requests)); !submitted) {
    co_await refuse(exchange, submitted.error(), job.headers);
    co_return std::nullopt;
  }
  if (job.delivery == Delivery::kWhole) co_return co_await answer_whole(app, exchange, generation, job, writer);
  co_await answer_stream(app, exchange, generation, job, writer);
  co_return std::nullopt;
}

/// What the model reads, special tokens and all. Bytes that make no text become U+FFFD.
void log_prompts(App& app, const std::string& id, const std::vector<GenerationRequest>& requests) {
  for (size_t i = 0; i < requests.size(); ++i) {
    if (i > 0 && requests[i].prompt == requests[i - 1].prompt) continue;
    const auto text = app.engine().tokenizer().decode(requests[i].prompt, SpecialText::kShow);
    log_request(spdlog::level::info, id, "prompt",
                {{"tokens", static_cast<int64_t>(requests[i].prompt.size())}, {"prompt", text ? *text : ""}});
  }
}

}  // namespace

awaitable<void> answer(App& app, Exchange& exchange, AnswerJob job, std::unique_ptr<AnswerWriter> writer) {
  for (GenerationRequest& request : job.requests) {
    if (const auto signature = sign(app, exchange.request(), request); !signature) {
      co_await refuse(exchange, signature.error(), job.headers);
      co_return;
    }
  }
  const ApiResult<bool> resumable = asks_resumable(app, exchange.request(), job.delivery);
  if (!resumable) {
    co_await refuse(exchange, resumable.error(), job.headers);
    co_return;
  }
  if (app.options().log_prompts) log_prompts(app, exchange.request().id, job.requests);
  const std::string key = key_of(app, exchange.request(), job);
  exchange.request().drop_body();
  if (std::optional<std::string> kept = find_kept(app.responses(), key, job)) {
    std::string body = writer->repeated_body(*kept);
    co_await respond(exchange, job, std::move(body));
    co_return;
  }
  if (*resumable) {
    co_await answer_resumable(app, exchange, std::move(job), std::move(writer));
    co_return;
  }
  const std::optional<EndedAnswer> ended = co_await answer_attached(app, exchange, std::move(job), *writer);
  if (ended && !key.empty()) app.responses().insert(key, *ended, std::chrono::steady_clock::now());
}

}  // namespace ferrox

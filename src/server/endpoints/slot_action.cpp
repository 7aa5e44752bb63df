// POST /slots/{id}?action=save|restore: a slot's last conversation, as clients of llama.cpp ask for it.
#include <fmt/format.h>

#include <charconv>
#include <chrono>

#include "server/app.h"
#include "server/caller.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_response.h"
#include "server/openai/endpoint_steps.h"
#include "server/session_steps.h"

namespace ferrox {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

ApiResult<size_t> slot_number(const std::string& text, size_t n_slots) {
  size_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && rest == text.data() + text.size() && number < n_slots) return number;
  return ApiError(404, "invalid_request_error", "not_found",
                  fmt::format("slot: expected a number below {}, found '{}'", n_slots, text.substr(0, kShownLetters)));
}

/// The last conversation of a slot, when it is the caller's.
ApiResult<SlotState> conversation_of(App& app, const HttpRequest& request, std::vector<SlotState> slots, size_t slot) {
  SlotState& state = slots[slot];
  if (state.is_busy) return ApiError(409, "invalid_request_error", "slot_busy", fmt::format("slot {}: it runs", slot));
  if (state.tokens.empty() || !is_callers_space(app, request, state.space)) {
    return ApiError(404, "invalid_request_error", "not_found",
                    fmt::format("slot {}: nothing of yours ran there", slot));
  }
  return std::move(state);
}

awaitable<ApiResult<Json>> save(App& app, const HttpRequest& request, size_t slot, std::vector<SlotState> slots) {
  const auto start = Clock::now();
  const ApiResult<std::string> named = read_one_text(request.body, "filename", nullptr);
  if (!named) co_return named.error();
  if (!named->empty()) {
    co_return invalid_request("filename",
                              "filename: expected none: the server chooses an id, which the answer carries");
  }
  ApiResult<SlotState> state = conversation_of(app, request, std::move(slots), slot);
  if (!state) co_return state.error();
  const auto saved = co_await save_session(app, std::move(state->space), std::move(state->tokens));
  if (!saved) co_return saved.error();
  co_return Json{{"id_slot", slot},
                 {"filename", to_hex(saved->id)},
                 {"n_saved", saved->n_tokens},
                 {"n_written", saved->size_bytes},
                 {"timings", {{"save_ms", ms_since(start)}}}};
}

awaitable<ApiResult<Json>> restore(App& app, const HttpRequest& request, size_t slot) {
  const auto start = Clock::now();
  const ApiResult<std::string> id = read_one_text(request.body, "filename", nullptr);
  if (!id) co_return id.error();
  const auto restored = co_await restore_session(app, cache_space(app, request, ""), "filename", *id);
  if (!restored) co_return restored.error();
  co_return Json{{"id_slot", slot},
                 {"filename", *id},
                 {"n_restored", restored->n_tokens},
                 {"n_read", restored->size_bytes},
                 {"timings", {{"restore_ms", ms_since(start)}}}};
}

awaitable<ApiResult<Json>> act(App& app, const HttpRequest& request) {
  std::vector<SlotState> slots = co_await app.on_waiter([&app] { return app.slots(); });
  const ApiResult<size_t> slot = slot_number(request.path_parameter, slots.size());
  if (!slot) co_return slot.error();
  if (request.query == "action=save") co_return co_await save(app, request, *slot, std::move(slots));
  if (request.query == "action=restore") co_return co_await restore(app, request, *slot);
  co_return invalid_request(
      "action", fmt::format("action: expected save or restore, found '{}'", request.query.substr(0, kShownLetters)));
}

awaitable<void> handle(App& app, Exchange& exchange) {
  const ApiResult<Json> done = co_await act(app, exchange.request());
  HttpResponse response = json_response(done);
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_slot_action{
    .method = "POST",
    .path = "/slots/{id}",
    .access = Access::kKey,
    .summary = "Saves the conversation that ran last in a slot, or restores one: ?action=save or restore",
    .handle = handle,
};

}  // namespace ferrox

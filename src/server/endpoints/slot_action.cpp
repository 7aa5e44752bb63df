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
#include "server/request/ignored_header.h"
#include "server/schema/body.h"
#include "server/schema/describe.h"
#include "server/schema/query.h"
#include "server/session_steps.h"

namespace ferrox {
namespace {

constexpr const char* kSave = "save";
constexpr const char* kRestore = "restore";

struct SlotQuery {
  std::string action;
};

ApiResult<void> read_action(const Json& value, SlotQuery& query) {
  const bool is_known = value == kSave || value == kRestore;  // an absent value is neither equal nor unequal
  if (!is_known) return wrong_value("action", "save or restore", value);
  query.action = value.get<std::string>();
  return {};
}

Json action_schema() { return one_of_words({kSave, kRestore}); }

const Field<SlotQuery> kQuery[] = {
    {"action", Structured<SlotQuery>{read_action, action_schema}, {}, "what is done", Presence::kRequired},
};

struct SlotRequest : FieldNotes {
  std::string filename;
};

const Field<SlotRequest> kFields[] = {
    {"filename",
     [](SlotRequest& r) -> std::string& { return r.filename; },
     {0, kSessionIdBytes.max},
     "to restore: the id that saving gave; to save: none, since the server chooses it"},
};

std::vector<FieldDescription> describe_query() { return describe_fields<SlotQuery>(kQuery); }

std::vector<BodyDescription> describe_bodies() {
  return {one_table("SlotRequest", "which conversation is restored", describe_fields<SlotRequest>(kFields))};
}

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

ApiResult<size_t> slot_number(const std::string& text, size_t n_slots) {
  size_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && rest == text.data() + text.size() && number < n_slots) return number;
  return ApiError(ErrorKind::kNotFound,
                  fmt::format("slot: expected a number below {}, found '{}'", n_slots, text.substr(0, kShownLetters)));
}

/// The last conversation of a slot, when it is the caller's.
ApiResult<SlotState> conversation_of(App& app, const HttpRequest& request, std::vector<SlotState> slots, size_t slot) {
  SlotState& state = slots[slot];
  if (state.is_busy) return ApiError(ErrorKind::kSlotBusy, fmt::format("slot {}: it runs", slot));
  if (state.tokens.empty() || !is_callers_space(app, request, state.space)) {
    return ApiError(ErrorKind::kNotFound, fmt::format("slot {}: nothing of yours ran there", slot));
  }
  return std::move(state);
}

awaitable<ApiResult<Json>> save(App& app, const HttpRequest& request, size_t slot, std::vector<SlotState> slots,
                                std::string filename) {
  const auto start = Clock::now();
  if (!filename.empty()) {
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

awaitable<ApiResult<Json>> restore(App& app, const HttpRequest& request, size_t slot, std::string id) {
  const auto start = Clock::now();
  const auto restored = co_await restore_session(app, cache_space(app, request, ""), "filename", id);
  if (!restored) co_return restored.error();
  co_return Json{{"id_slot", slot},
                 {"filename", id},
                 {"n_restored", restored->n_tokens},
                 {"n_read", restored->size_bytes},
                 {"timings", {{"restore_ms", ms_since(start)}}}};
}

awaitable<HttpResponse> act(App& app, const HttpRequest& request) {
  std::vector<SlotState> slots = co_await app.on_waiter([&app] { return app.slots(); });
  const ApiResult<size_t> slot = slot_number(request.path_parameter, slots.size());
  if (!slot) co_return error_response(slot.error());
  const auto query = read_query<SlotQuery>(request.query, kQuery);
  if (!query) co_return error_response(query.error());
  const auto body = read_body<SlotRequest>(request.body, kFields, unknown_fields(app));
  if (!body) co_return error_response(body.error());
  std::string filename = body->filename;
  ApiResult<Json> done = Json();
  if (query->action == kSave) {
    done = co_await save(app, request, *slot, std::move(slots), std::move(filename));
  } else {
    done = co_await restore(app, request, *slot, std::move(filename));
  }
  std::vector<HttpHeader> headers;
  add_ignored_header(body->ignored, headers);
  co_return json_response(done, std::move(headers));
}

awaitable<void> handle(App& app, Exchange& exchange) {
  HttpResponse response = co_await act(app, exchange.request());
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_slot_action{
    .method = "POST",
    .path = "/slots/{id}",
    .access = Access::kKey,
    .summary = "Saves the conversation that ran last in a slot, or restores one",
    .handle = handle,
    .detail = "Sessions, as clients of llama.cpp ask for them. The id is the slot's number.",
    .bodies = describe_bodies,
    .query = describe_query,
    .refusals = kSessionErrors | ErrorSet{ErrorKind::kSlotBusy},
    .most_body_bytes = kSmallBodyBytes,
};

}  // namespace ferrox

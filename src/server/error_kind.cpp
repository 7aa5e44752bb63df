#include "server/error_kind.h"

#include <iterator>

namespace ferrox {
namespace {

constexpr const char* kInvalid = "invalid_request_error";
constexpr const char* kServer = "server_error";

constexpr ErrorRow kErrorRows[] = {
    {ErrorKind::kInvalidRequest, 400, kInvalid, kInvalid, "a body, field, query or header that is wrong"},
    {ErrorKind::kContextLength, 400, kInvalid, "context_length_exceeded", "more tokens than the context has"},
    {ErrorKind::kMemoryBudget, 400, kInvalid, "device_memory_budget_exceeded",
     "more than the KV store could ever hold; a session: more than the folder's budget leaves beside other sessions"},
    {ErrorKind::kInvalidApiKey, 401, "authentication_error", "invalid_api_key", "no key, or none of this server's"},
    {ErrorKind::kForbidden, 403, "permission_error", "forbidden",
     "what concerns other callers, without an admin's key, as a list of sessions does where there are several keys; a "
     "priority below the key's; a host or origin that isn't allowed"},
    {ErrorKind::kNotFound, 404, kInvalid, "not_found",
     "no such path, answer, pin, slot, session or resumable stream; nothing of a conversation is cached; nothing "
     "of the caller's ran in a slot"},
    {ErrorKind::kModelNotFound, 404, kInvalid, "model_not_found",
     "another model than the loaded one, with --strict-model and where one is asked for by name"},
    {ErrorKind::kMethodNotAllowed, 405, kInvalid, "method_not_allowed",
     "the path has other methods, which allow names"},
    {ErrorKind::kSessionDamaged, 409, kInvalid, "session_damaged",
     "a session's file isn't as it was written, or of other tokens than the model has: it can only be forgotten"},
    {ErrorKind::kSlotBusy, 409, kInvalid, "slot_busy", "a slot is saved after its answer ended: try again then"},
    {ErrorKind::kSleepOvertaken, 409, kInvalid, "sleep_overtaken",
     "another order to sleep or wake, or a drain, came before this one was done"},
    {ErrorKind::kStreamTakenOver, 409, kInvalid, "stream_taken_over",
     "an event: another connection reads the stream now"},
    {ErrorKind::kEventsGone, 410, kInvalid, "events_gone",
     "of a resumable stream: what should follow isn't kept any more"},
    {ErrorKind::kTooLarge, 413, kInvalid, "request_too_large", "a body beyond the limit"},
    {ErrorKind::kEncodedBody, 415, kInvalid, kInvalid, "a body with a content encoding"},
    {ErrorKind::kUnknownExpectation, 417, kInvalid, kInvalid, "an expectation other than 100-continue"},
    {ErrorKind::kRateLimited, 429, "rate_limit_error", "rate_limit_exceeded", "more than the key's quota"},
    {ErrorKind::kHeadersTooLarge, 431, kInvalid, "headers_too_large", "a head, or trailers, beyond the limit"},
    {ErrorKind::kClientClosed, 499, kInvalid, "client_closed_request",
     "an answer to a client that closed its sending side while it was made"},
    {ErrorKind::kInternal, 500, kServer, "internal_error",
     "a bug; or the disk: a session's folder was removed, is full, or can't be read"},
    {ErrorKind::kUnsupported, 501, kInvalid, "unsupported",
     "a field that asks for what this server doesn't do; a cache or sessions, on a server without; a session "
     "of another model, a file of somebody else"},
    {ErrorKind::kQueueFull, 503, kServer, "queue_full", "too many requests wait, or large bodies are read"},
    {ErrorKind::kKvExhausted, 503, kServer, "kv_exhausted", "no room for the request came free in its timeout"},
    {ErrorKind::kDraining, 503, kServer, "draining", "the server ends"},
    {ErrorKind::kSleeping, 503, kServer, "sleeping", "until POST /wake_up"},
    {ErrorKind::kStreamsBusy, 503, kServer, "streams_busy",
     "all resumable streams that may be kept are, or the key has its part of them; without the header the request "
     "runs"},
    {ErrorKind::kStalled, 503, kServer, "stalled", "the engine has work and stood still for a minute: restart it"},
    {ErrorKind::kSessionsBusy, 503, kServer, "sessions_busy",
     "another process saves into that folder, running requests leave a session no pages, or the server ends"},
    {ErrorKind::kHttpVersion, 505, kInvalid, kInvalid, "another version than HTTP/1.0 or 1.1"},
};

constexpr bool are_in_place() {
  for (size_t i = 0; i < std::size(kErrorRows); ++i) {
    if (static_cast<size_t>(kErrorRows[i].kind) != i) return false;
  }
  return true;
}
static_assert(are_in_place(), "a row stands where its kind's number is");
static_assert(std::size(kErrorRows) <= 32, "an ErrorSet has a bit for each kind");

}  // namespace

std::span<const ErrorRow> error_table() { return kErrorRows; }

const ErrorRow& row_of(ErrorKind kind) { return kErrorRows[static_cast<size_t>(kind)]; }

}  // namespace ferrox

// How is a stream that outlives its connection told to the one that is attached?
#pragma once

#include <string>
#include <vector>

#include "server/app.h"
#include "server/http/exchange.h"
#include "server/streams/event_id.h"
#include "server/streams/held_stream.h"

namespace ferrox {

/// Tells all that follows event `after` until the end, until the client goes, until another reader comes or until this
/// one is further behind than the window. The stream, which must outlive the call, goes on whatever comes of it.
awaitable<void> send_events(App& app, Exchange& exchange, HeldStream& stream, uint64_t after,
                            std::vector<HttpHeader> headers);

/// Takes up a stream of the caller's behind an event. 404: there is none; 410: some of what follows is gone; 400: an
/// event that hasn't been; 204: nothing follows.
awaitable<void> resume_stream(App& app, Exchange& exchange, EventId from);

/// The same of the event that the header Last-Event-ID names. 400: it names none.
awaitable<void> resume_by_header(App& app, Exchange& exchange);

/// Whether a request takes up a stream: it has that header.
bool is_resume(const HttpRequest& request);

}  // namespace ferrox

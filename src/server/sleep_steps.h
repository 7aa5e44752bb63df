// How does the server fall asleep, by order and for want of work?
#pragma once

#include <chrono>

#include "server/app.h"

namespace ferrox {

/// Refuses from now on, waits until what runs and what is read or written has ended, and gives memory back. False: a
/// later order came before.
awaitable<bool> sleep_by_order(App& app, SleepLevel level);

/// Dozes whenever nothing ran for `idle`, until the server drains. `timer` ends a wait early when it is cancelled.
awaitable<void> doze_when_idle(App& app, std::chrono::milliseconds idle, asio::steady_timer& timer);

}  // namespace ferrox

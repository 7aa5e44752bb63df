// Which streams are to outlive their connection? Those whose request says so in a header.
#pragma once

#include "server/answer/answer.h"
#include "server/app.h"
#include "server/http/message.h"

namespace ferrox {

/// Whether an answer shall outlive its connection by its request's x-ferrox-resumable; then there is room for it, until
/// something else runs. 400: beside a whole answer, or another value than true and false; 501: this server keeps none;
/// 503: it keeps as many as it may, and none of them has to give way.
ApiResult<bool> asks_resumable(App& app, const HttpRequest& request, Delivery delivery);

}  // namespace ferrox

// How is the loaded model described to clients?
#pragma once

#include "server/app.h"
#include "server/json_text.h"

namespace ferrox {

/// OpenAI's model object, with context length, capabilities and sizes beside it.
Json model_object(App& app);

}  // namespace ferrox

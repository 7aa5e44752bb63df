// How are the shared fields read that are more than a number, a text or a truth value?
#pragma once

#include "server/openai/generation_fields.h"

namespace ferrox {

/// -1: all that is left of the context. 0 would be a request for nothing. `name` is one of the field's three names.
ApiResult<void> read_max_tokens(const char* name, const Json& value, GenerationParams& params);
Json max_tokens_schema();

ApiResult<void> read_stop(const Json& value, GenerationParams& params);
Json stop_schema();

/// Text, which every answer is: anything else is refused.
ApiResult<void> read_response_format(const Json& value, GenerationParams& params);
Json response_format_schema();

ApiResult<void> read_stream_options(const Json& value, GenerationParams& params);
Json stream_options_schema();
/// Lists members that only work beside another one: options of a stream in a request for a whole answer.
void list_idle_options(const Json& body, GenerationParams& params);

ApiResult<void> read_samplers(const Json& value, GenerationParams& params);
Json samplers_schema();

ApiResult<void> read_breakers(const Json& value, GenerationParams& params);
Json breakers_schema();

ApiResult<void> read_logit_bias(const Json& value, GenerationParams& params);
Json logit_bias_schema();

ApiResult<void> read_stop_token_ids(const Json& value, GenerationParams& params);
ApiResult<void> read_allowed_token_ids(const Json& value, GenerationParams& params);

}  // namespace ferrox

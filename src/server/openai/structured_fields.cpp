// Which values do limits, stops, seeds and sampler chains take?
#include "server/openai/structured_fields.h"

#include <fmt/format.h>

#include <iterator>

#include "engine/sampler_names.h"
#include "server/schema/array_fields.h"

namespace ferrox {
namespace {

constexpr size_t kMaxStops = 16;
constexpr FieldRange kStopBytes{1, 1024};
constexpr size_t kMaxBreakers = 64;

std::string sampler_choices() {
  std::string choices;
  for (const SamplerName& row : kSamplerNames) choices += fmt::format("{}{}", choices.empty() ? "" : ", ", row.name);
  return "one of " + choices;
}

}  // namespace

ApiResult<void> read_max_tokens(const char* name, const Json& value, GenerationParams& params) {
  const auto read = read_integer(name, value, kCountOrAll);
  if (!read || *read == 0) {
    return wrong_value(name, "an integer from 1 to 2147483647, or -1 for the rest of the context", value);
  }
  const int64_t limit = *read;
  if (params.request.max_tokens && *params.request.max_tokens != limit) {
    return invalid_request(
        name, fmt::format("{}: another limit of {} was given beside it", name, *params.request.max_tokens));
  }
  params.request.max_tokens = limit;
  return {};
}

ApiResult<void> read_stop(const Json& value, GenerationParams& params) {
  if (value.is_string()) {
    params.request.stop.clear();
    if (value.get_ref<const std::string&>().empty()) return {};
    TRY_ASSIGN(params.request.stop.emplace_back(), read_string("stop", value, kStopBytes));
    return {};
  }
  TRY_ASSIGN(params.request.stop, read_strings("stop", value, kMaxStops, kStopBytes));
  return {};
}

ApiResult<void> read_nested(const std::string& path, const Json& object, std::span<const Field<GenerationParams>> table,
                            GenerationParams& params) {
  if (!object.is_object()) return wrong_value(path, "an object", object);
  for (const auto& [member, value] : object.items()) {
    std::string name = path + "." + member;
    TRY_ASSIGN(const FieldUse use, read_field(table, name, value, params));
    if (use == FieldUse::kUnknown)
      TRY(pass_over(std::move(name), params));
    else if (use == FieldUse::kIgnored)
      params.ignored.push_back(std::move(name));
  }
  return {};
}

ApiResult<void> read_stream_options(const Json& value, GenerationParams& params) {
  static const Field<GenerationParams> kMembers[] = {
      {"stream_options.include_usage",
       [](GenerationParams& p) -> bool& { return p.include_usage; },
       {},
       "a last chunk with the usage"},
      {"stream_options.include_obfuscation", Inert{}, {}, "accepted: chunks aren't padded"},
  };
  return read_nested("stream_options", value, kMembers, params);
}

void list_idle_options(const Json& body, GenerationParams& params) {
  const auto options = body.find("stream_options");
  if (params.stream || options == body.end() || options->is_null()) return;
  std::erase_if(params.ignored, [](const std::string& name) { return name.starts_with("stream_options."); });
  params.ignored.emplace_back("stream_options");
}

ApiResult<void> read_response_format(const Json& value, GenerationParams& params) {
  if (!value.is_object() || value.value("type", Json()) != "text") return refused_field("response_format");
  static const Field<GenerationParams> kMembers[] = {
      {"response_format.type", [](const Json&, GenerationParams&) -> ApiResult<void> { return {}; }, {}, "text"},
  };
  return read_nested("response_format", value, kMembers, params);
}

ApiResult<void> read_samplers(const Json& value, GenerationParams& params) {
  TRY_ASSIGN(const auto names, read_strings("samplers", value, std::size(kSamplerNames), {1, 32}));
  params.request.sampling.order.clear();
  for (const std::string& name : names) {
    const auto kind = find_sampler(name);
    if (!kind) return wrong_value("samplers", sampler_choices(), name);
    params.request.sampling.order.push_back(*kind);
  }
  return {};
}

ApiResult<void> read_breakers(const Json& value, GenerationParams& params) {
  TRY_ASSIGN(params.request.sampling.dry_sequence_breakers,
             read_strings("dry_sequence_breakers", value, kMaxBreakers, {1, 64}));
  return {};
}

ApiResult<void> read_stop_token_ids(const Json& value, GenerationParams& params) {
  TRY_ASSIGN(params.request.stop_tokens, read_token_ids("stop_token_ids", value));
  return {};
}

ApiResult<void> read_allowed_token_ids(const Json& value, GenerationParams& params) {
  TRY_ASSIGN(params.request.sampling.allowed_tokens, read_token_ids("allowed_token_ids", value));
  return {};
}

}  // namespace ferrox

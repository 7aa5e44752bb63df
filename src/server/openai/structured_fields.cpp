// Which values do limits, stops, seeds and sampler chains take?
#include "server/openai/structured_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "engine/sampler_names.h"
#include "server/schema/array_fields.h"
#include "server/schema/describe.h"

namespace ferrox {
namespace {

constexpr size_t kMaxStops = 16;
constexpr FieldRange kStopBytes{1, 1024};
constexpr size_t kMaxBreakers = 64;
constexpr FieldRange kBreakerBytes{1, 64};

const Field<GenerationParams> kStreamOptions[] = {
    {"stream_options.include_usage",
     [](GenerationParams& p) -> bool& { return p.include_usage; },
     {},
     "a last chunk with the usage"},
    {"stream_options.include_obfuscation", Inert{}, {}, "accepted: chunks aren't padded"},
};

/// What else there is was refused before its members are read.
ApiResult<void> accept_text(const Json&, GenerationParams&) { return {}; }
Json text_alone() { return {{"const", "text"}}; }

const Field<GenerationParams> kResponseFormat[] = {
    {"response_format.type",
     Structured<GenerationParams>{accept_text, text_alone},
     {},
     "text, which every answer is",
     Presence::kRequired},
};

std::string sampler_choices() {
  std::string choices;
  for (const SamplerName& row : kSamplerNames) choices += fmt::format("{}{}", choices.empty() ? "" : ", ", row.name);
  return "one of " + choices;
}

std::string_view name_of(SamplerKind kind) {
  const auto is_of_kind = [kind](const SamplerName& row) { return row.kind == kind; };
  return std::find_if(std::begin(kSamplerNames), std::end(kSamplerNames), is_of_kind)->name;
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

Json max_tokens_schema() {
  Json schema = integer_schema(kCountOrAll);
  schema["not"] = {{"const", 0}};
  return schema;
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

Json stop_schema() { return any_of({string_schema({0, kStopBytes.max}), strings_schema(kMaxStops, kStopBytes)}); }

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
  return read_nested("stream_options", value, kStreamOptions, params);
}

Json stream_options_schema() { return nested_schema<GenerationParams>("stream_options", kStreamOptions); }

void list_idle_options(const Json& body, GenerationParams& params) {
  const auto options = body.find("stream_options");
  if (params.stream || options == body.end() || options->is_null()) return;
  std::erase_if(params.ignored, [](const std::string& name) { return name.starts_with("stream_options."); });
  params.ignored.emplace_back("stream_options");
}

ApiResult<void> read_response_format(const Json& value, GenerationParams& params) {
  if (!value.is_object() || value.value("type", Json()) != "text") return refused_field("response_format");
  return read_nested("response_format", value, kResponseFormat, params);
}

Json response_format_schema() { return nested_schema<GenerationParams>("response_format", kResponseFormat); }

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

Json samplers_schema() {
  std::vector<std::string> names;
  for (const SamplerName& row : kSamplerNames) names.emplace_back(row.name);
  Json chain = Json::array();
  for (const SamplerKind kind : default_sampler_order()) chain.push_back(name_of(kind));
  Json schema = array_schema(one_of_words(names), {0, static_cast<double>(std::size(kSamplerNames))});
  schema["default"] = std::move(chain);
  return schema;
}

ApiResult<void> read_breakers(const Json& value, GenerationParams& params) {
  TRY_ASSIGN(params.request.sampling.dry_sequence_breakers,
             read_strings("dry_sequence_breakers", value, kMaxBreakers, kBreakerBytes));
  return {};
}

Json breakers_schema() {
  Json schema = strings_schema(kMaxBreakers, kBreakerBytes);
  schema["default"] = SamplingParams().dry_sequence_breakers;
  return schema;
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

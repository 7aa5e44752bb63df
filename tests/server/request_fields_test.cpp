// Does every field work, refuse by name, or get listed; and does no value pass its range?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/openai/chat_request.h"
#include "server/openai/completion_request.h"
#include "server/openai/prompt_building.h"
#include "server/request/ignored_header.h"

namespace ferrox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

ApiResult<ParsedCompletion> complete(const char* fields) {
  return parse_completion(std::string(R"({"prompt":"x",)") + fields + "}", UnknownFields::kListed);
}

ApiResult<ParsedChat> chat(const char* fields) {
  return parse_chat(std::string(R"({"messages":[{"role":"user","content":"x"}],)") + fields + "}",
                    UnknownFields::kListed);
}

const GenerationRequest& request_of(const ApiResult<ParsedCompletion>& parsed) { return parsed->request.request; }

TEST(RequestFields, AbsentAndNullFieldsKeepTheDefaults) {
  const auto parsed = complete(R"("temperature":null,"max_tokens":null,"stop":null,"seed":null,"tools":null)");
  ASSERT_TRUE(parsed);
  EXPECT_FLOAT_EQ(request_of(parsed).sampling.temperature, SamplingParams().temperature);
  EXPECT_FALSE(request_of(parsed).max_tokens);
  EXPECT_FALSE(parsed->request.seed);
  EXPECT_EQ(request_of(parsed).sampling.order, default_sampler_order());
}

TEST(RequestFields, EverySamplerIsReached) {
  const auto parsed = complete(
      R"("temperature":0.5,"dynatemp_range":0.1,"dynatemp_exponent":2,"top_k":7,"top_p":0.6,"min_p":0.02,"typical_p":0.7,
         "top_n_sigma":1.5,"xtc_probability":0.3,"xtc_threshold":0.2,"repeat_penalty":1.1,"presence_penalty":-1,
         "frequency_penalty":1,"repeat_last_n":-1,"dry_multiplier":0.8,"dry_base":1.5,"dry_allowed_length":3,
         "dry_penalty_last_n":100,"dry_sequence_breakers":["a","b"],"mirostat":2,"mirostat_tau":4,"mirostat_eta":0.2,
         "min_keep":2,"samplers":["temperature","top_k","typ_p"],"min_tokens":5,"ignore_eos":true,"max_tokens":9,
         "stop_token_ids":[4,5],"allowed_token_ids":[6],"include_stop_str_in_output":true,"timeout":1.5,
         "post_sampling_probs":true,"logprobs":3)");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const SamplingParams& s = request_of(parsed).sampling;
  EXPECT_FLOAT_EQ(s.temperature, 0.5f);
  EXPECT_FLOAT_EQ(s.dynatemp_range, 0.1f);
  EXPECT_FLOAT_EQ(s.dynatemp_exponent, 2);
  EXPECT_EQ(s.top_k, 7);
  EXPECT_FLOAT_EQ(s.top_p, 0.6f);
  EXPECT_FLOAT_EQ(s.min_p, 0.02f);
  EXPECT_FLOAT_EQ(s.typical_p, 0.7f);
  EXPECT_FLOAT_EQ(s.top_n_sigma, 1.5f);
  EXPECT_FLOAT_EQ(s.xtc_probability, 0.3f);
  EXPECT_FLOAT_EQ(s.xtc_threshold, 0.2f);
  EXPECT_FLOAT_EQ(s.repeat_penalty, 1.1f);
  EXPECT_FLOAT_EQ(s.presence_penalty, -1);
  EXPECT_FLOAT_EQ(s.frequency_penalty, 1);
  EXPECT_EQ(s.repeat_last_n, -1);
  EXPECT_FLOAT_EQ(s.dry_multiplier, 0.8f);
  EXPECT_FLOAT_EQ(s.dry_base, 1.5f);
  EXPECT_EQ(s.dry_allowed_length, 3);
  EXPECT_EQ(s.dry_penalty_last_n, 100);
  EXPECT_THAT(s.dry_sequence_breakers, ElementsAre("a", "b"));
  EXPECT_EQ(s.mirostat, 2);
  EXPECT_FLOAT_EQ(s.mirostat_tau, 4);
  EXPECT_FLOAT_EQ(s.mirostat_eta, 0.2f);
  EXPECT_EQ(s.min_keep, 2);
  EXPECT_THAT(s.order, ElementsAre(SamplerKind::kTemperature, SamplerKind::kTopK, SamplerKind::kTypical));
  EXPECT_EQ(s.min_tokens, 5);
  EXPECT_THAT(s.allowed_tokens, ElementsAre(6));
  EXPECT_TRUE(s.post_sampling_logprobs);
  EXPECT_EQ(s.n_logprobs, 3);
  EXPECT_TRUE(request_of(parsed).ignore_eos);
  EXPECT_TRUE(request_of(parsed).include_stop);
  EXPECT_EQ(request_of(parsed).max_tokens, 9);
  EXPECT_EQ(request_of(parsed).timeout_ms, 1500);
  EXPECT_THAT(request_of(parsed).stop_tokens, ElementsAre(4, 5));
  EXPECT_TRUE(parsed->request.ignored.empty());
}

/// Walks the table: a new numeric field is tested the moment it exists.
TEST(RequestFields, EveryNumberIsRefusedOutsideItsRangeByName) {
  for (const Field<GenerationParams>& field : generation_fields()) {
    const bool is_number = std::holds_alternative<int32_t& (*)(GenerationParams&)>(field.slot) ||
                           std::holds_alternative<int64_t& (*)(GenerationParams&)>(field.slot) ||
                           std::holds_alternative<float& (*)(GenerationParams&)>(field.slot);
    if (!is_number) continue;
    for (const double value : {field.range.min - 1, field.range.max + 1, 1e300, -1e300}) {
      const auto parsed = complete(fmt::format("\"{}\":{}", field.name, value).c_str());
      ASSERT_FALSE(parsed) << field.name << " = " << value;
      EXPECT_EQ(parsed.error().status, 400);
      EXPECT_EQ(parsed.error().param, field.name);
      EXPECT_THAT(parsed.error().message, HasSubstr(fmt::format("{}: expected", field.name)));
      EXPECT_THAT(parsed.error().message, HasSubstr("found"));
    }
    EXPECT_TRUE(complete(fmt::format("\"{}\":{}", field.name, field.range.min).c_str())) << field.name;
    EXPECT_TRUE(complete(fmt::format("\"{}\":{}", field.name, field.range.max).c_str())) << field.name;
  }
}

TEST(RequestFields, WrongTypesAreRefusedByName) {
  for (const Field<GenerationParams>& field : generation_fields()) {
    if (std::holds_alternative<Inert>(field.slot)) continue;
    const auto parsed = complete(fmt::format("\"{}\":{{\"odd\":[1]}}", field.name).c_str());
    if (std::string_view(field.name) == "logit_bias" || std::string_view(field.name) == "stream_options") continue;
    ASSERT_FALSE(parsed) << field.name;
    EXPECT_EQ(parsed.error().param, field.name);
  }
}

TEST(RequestFields, IntegersMayBeWrittenAsWholeFloats) {
  EXPECT_EQ(request_of(complete(R"("top_k":3.0)")).sampling.top_k, 3);
  EXPECT_THAT(complete(R"("top_k":3.5)").error().message, HasSubstr("top_k: expected an integer"));
  EXPECT_FALSE(complete(R"("top_k":"3")"));
  EXPECT_FALSE(complete(R"("top_k":true)"));
}

TEST(RequestFields, NegativeDiscardsAndTheirLikeNeverPass) {
  EXPECT_FALSE(complete(R"("n":0)"));
  EXPECT_FALSE(complete(R"("n":-1)"));
  EXPECT_FALSE(complete(R"("n":1000000000)"));
  EXPECT_FALSE(complete(R"("max_tokens":0)"));
  EXPECT_THAT(complete(R"("max_tokens":-2)").error().message, HasSubstr("from 1 to 2147483647, or -1"));
  EXPECT_FALSE(complete(R"("min_keep":-1)"));
  EXPECT_TRUE(complete(R"("max_tokens":-1)"));
}

TEST(RequestFields, LimitsMayBeGivenTwiceOnlyAlike) {
  EXPECT_EQ(request_of(complete(R"("max_tokens":5,"max_completion_tokens":5)")).max_tokens, 5);
  EXPECT_EQ(complete(R"("max_tokens":5,"n_predict":6)").error().param, "n_predict");
}

TEST(RequestFields, Stops) {
  EXPECT_THAT(request_of(complete(R"("stop":"a")")).stop, ElementsAre("a"));
  EXPECT_THAT(request_of(complete(R"("stop":["a","b"])")).stop, ElementsAre("a", "b"));
  EXPECT_TRUE(request_of(complete(R"("stop":"")")).stop.empty());
  EXPECT_FALSE(complete(R"("stop":[""])"));
  EXPECT_FALSE(complete(R"("stop":[1])"));
  EXPECT_FALSE(complete(R"("stop":["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16","17"])"));
}

TEST(RequestFields, Seeds) {
  EXPECT_EQ(complete(R"("seed":7)")->request.seed, 7u);
  EXPECT_EQ(complete(R"("seed":7.0)")->request.seed, 7u);
  EXPECT_EQ(complete(R"("seed":18446744073709551615)")->request.seed, ~uint64_t{0});
  EXPECT_EQ(complete(R"("seed":-2)")->request.seed, ~uint64_t{1});
  EXPECT_FALSE(complete(R"("seed":-1)")->request.seed);
  EXPECT_FALSE(complete(R"("seed":"x")"));
}

TEST(RequestFields, LogitBiasByIdByTextAndAsPairs) {
  const auto object = complete(R"("logit_bias":{"5":1.5,"word":false})");
  ASSERT_TRUE(object);
  EXPECT_EQ(std::get<int32_t>(object->request.logit_bias[0].target), 5);
  EXPECT_FLOAT_EQ(object->request.logit_bias[0].bias, 1.5f);
  EXPECT_EQ(std::get<std::string>(object->request.logit_bias[1].target), "word");
  EXPECT_EQ(object->request.logit_bias[1].bias, -std::numeric_limits<float>::infinity());
  const auto pairs = complete(R"("logit_bias":[[5,-1],["word",2]])");
  ASSERT_TRUE(pairs);
  EXPECT_EQ(std::get<int32_t>(pairs->request.logit_bias[0].target), 5);
  EXPECT_EQ(std::get<std::string>(pairs->request.logit_bias[1].target), "word");
  for (const char* bad : {R"("logit_bias":{"5":101})", R"("logit_bias":{"5":true})", R"("logit_bias":[[5]])",
                          R"("logit_bias":[[-5,1]])", R"("logit_bias":7)"}) {
    EXPECT_EQ(complete(bad).error().param, "logit_bias") << bad;
  }
  for (const char* key : {"-1", "+5", "99999999999", "2147483648"}) {
    const auto refused = complete((std::string("\"logit_bias\":{\"") + key + "\":1}").c_str());
    ASSERT_FALSE(refused) << key;
    EXPECT_EQ(refused.error().param, "logit_bias");
  }
}

TEST(RequestFields, PromptsOfEveryKind) {
  const auto prompts = [](const char* json) {
    return parse_completion(std::string("{\"prompt\":") + json + "}", UnknownFields::kListed);
  };
  EXPECT_EQ(std::get<std::string>(prompts("\"a\"")->request.prompts.at(0)), "a");
  EXPECT_EQ(prompts(R"(["a","b"])")->request.prompts.size(), 2u);
  EXPECT_THAT(std::get<std::vector<int32_t>>(prompts("[1,2]")->request.prompts.at(0)), ElementsAre(1, 2));
  EXPECT_EQ(prompts("[[1],[2,3],\"c\"]")->request.prompts.size(), 3u);
  for (const char* bad : {"7", "[]", "{}", "[[]]", "[1,\"a\"]", "[-1]", "[1.5]", "[4294967296]", "[null]", "null"}) {
    EXPECT_EQ(prompts(bad).error().param, "prompt") << bad;
  }
}

TEST(RequestFields, CandidatesAreNoFewerThanAnswersAndNotStreamed) {
  EXPECT_EQ(complete(R"("n":3,"best_of":2)").error().message, "best_of: expected at least n (3), found 2");
  EXPECT_EQ(complete(R"("best_of":0)").error().param, "best_of");
  EXPECT_EQ(complete(R"("best_of":1000000000)").error().param, "best_of");
  EXPECT_THAT(complete(R"("best_of":2,"stream":true)").error().message, HasSubstr("expected n (1) with stream"));
  EXPECT_TRUE(complete(R"("n":2,"best_of":2,"stream":true)"));
}

TEST(RequestFields, WhatIsNotServedIsRefusedByName) {
  for (const char* field :
       {R"("suffix":"end")", R"("grammar":"root ::= 1")", R"("guided_json":{})", R"("echo":true,"logprobs":1)"}) {
    EXPECT_EQ(complete(field).error().code, "unsupported") << field;
    EXPECT_EQ(complete(field).error().status, 501) << field;
  }
  for (const char* field :
       {R"("tools":[{}])", R"("tool_choice":"required")", R"("response_format":{"type":"json_object"})",
        R"("audio":{})", R"("modalities":["text","audio"])", R"("functions":[1])"}) {
    EXPECT_EQ(chat(field).error().code, "unsupported") << field;
    EXPECT_THAT(std::string(field), HasSubstr('"' + chat(field).error().param + '"'));
  }
  EXPECT_TRUE(complete(R"("suffix":"","best_of":1)"));
  EXPECT_TRUE(chat(R"("tools":[],"tool_choice":"none","response_format":{"type":"text"},"modalities":["text"])"));
}

TEST(RequestFields, WithoutEffectMeansListed) {
  const auto parsed = complete(R"("user":"me","made_up":1,"temperature":0)");
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->request.ignored, UnorderedElementsAre("user", "made_up"));
  const auto strict = parse_completion(R"({"prompt":"x","user":"me","made_up":1})", UnknownFields::kRefused);
  EXPECT_EQ(strict.error().param, "made_up");
}

struct NestedName {
  const char* fields;
  const char* listed;
  bool known;  ///< strict servers take it
};

TEST(RequestFields, NestedNamesWithoutEffectAreListedToo) {
  const NestedName cases[] = {
      {R"("stream":true,"stream_options":{"include_usage":true,"foo":1})", "stream_options.foo", false},
      {R"("stream":true,"stream_options":{"include_obfuscation":true})", "stream_options.include_obfuscation", true},
      {R"("stream_options":{"include_usage":true})", "stream_options", true},
      {R"("response_format":{"type":"text","json_schema":{}})", "response_format.json_schema", false},
      {R"("chat_template_kwargs":{"messages":[]})", "chat_template_kwargs.messages", true},
      {R"("chat_template_kwargs":{"add_generation_prompt":false})", "chat_template_kwargs.add_generation_prompt", true},
      {R"("chat_template_kwargs":{"bos_token":"x"})", "chat_template_kwargs.bos_token", true},
  };
  for (const NestedName& nested : cases) {
    const auto parsed = chat(nested.fields);
    ASSERT_TRUE(parsed) << nested.fields;
    EXPECT_THAT(parsed->request.ignored, ElementsAre(nested.listed)) << nested.fields;
    const auto strict = parse_chat(std::string(R"({"messages":[{"role":"user","content":"x"}],)") + nested.fields + "}",
                                   UnknownFields::kRefused);
    EXPECT_EQ(strict.has_value(), nested.known) << nested.fields;
    if (!nested.known) {
      EXPECT_EQ(strict.error().param, nested.listed);
    }
  }
  EXPECT_EQ(chat(R"("stream_options":{"include_usage":7})").error().param, "stream_options.include_usage");
  EXPECT_THAT(chat(R"("stream":true,"stream_options":{"include_usage":true})")->request.ignored, ElementsAre());
  EXPECT_THAT(complete(R"("stream_options":null)")->request.ignored, ElementsAre());
}

TEST(RequestFields, RangesAreToldWithBothEnds) {
  EXPECT_THAT(complete(R"("max_tokens":1000000000000000000)").error().message,
              HasSubstr("from 1 to 2147483647, or -1"));
  EXPECT_THAT(complete(R"("stop_token_ids":[-1])").error().message, HasSubstr("from 0 to 2147483647"));
}

TEST(RequestFields, NamesInHeadersAreHarmless) {
  EXPECT_EQ(header_list({"a\r\nset-cookie: x", "b"}), "a??set-cookie??x, b");
  EXPECT_LT(header_list(std::vector<std::string>(1000, "name")).size(), 1100u);
  EXPECT_EQ(header_list({std::string(5000, 'x')}), "...");
}

TEST(RequestFields, ChatLogprobs) {
  EXPECT_EQ(chat(R"("logprobs":true)")->request.request.sampling.n_logprobs, 0);
  EXPECT_EQ(chat(R"("logprobs":true,"top_logprobs":20)")->request.request.sampling.n_logprobs, 20);
  EXPECT_EQ(chat(R"("logprobs":false)")->request.request.sampling.n_logprobs, -1);
  EXPECT_EQ(chat(R"("top_logprobs":2)").error().param, "top_logprobs");
  EXPECT_EQ(chat(R"("logprobs":true,"top_logprobs":21)").error().param, "top_logprobs");
}

struct BadMessages {
  const char* json;
  const char* param;
  int status;
};

TEST(RequestFields, ConversationsAreCheckedPlaceByPlace) {
  const BadMessages cases[] = {
      {"7", "messages", 400},
      {"[]", "messages", 400},
      {"[7]", "messages[0]", 400},
      {R"([{"content":"x"}])", "messages[0].role", 400},
      {R"([{"role":"wizard","content":"x"}])", "messages[0].role", 400},
      {R"([{"role":"user"}])", "messages[0].content", 400},
      {R"([{"role":"user","content":7}])", "messages[0].content", 400},
      {R"([{"role":"user","content":[7]}])", "messages[0].content[0]", 400},
      {R"([{"role":"user","content":[{"type":"text"}]}])", "messages[0].content[0].text", 400},
      {R"([{"role":"user","content":"x"},{"role":"user","content":[{"type":"image_url","image_url":{}}]}])",
       "messages[1].content[0].type", 501},
      {R"([{"role":"assistant","tool_calls":[{"function":{}}]}])", "messages[0].tool_calls[0]", 400},
  };
  for (const BadMessages& bad : cases) {
    const auto parsed = parse_chat(std::string("{\"messages\":") + bad.json + "}", UnknownFields::kListed);
    ASSERT_FALSE(parsed) << bad.json;
    EXPECT_EQ(parsed.error().param, bad.param) << bad.json;
    EXPECT_EQ(parsed.error().status, bad.status) << bad.json;
  }
  EXPECT_EQ(parse_chat("{}", UnknownFields::kListed).error().param, "messages");
  EXPECT_EQ(parse_chat("[]", UnknownFields::kListed).error().status, 400);
  EXPECT_EQ(parse_chat("{", UnknownFields::kListed).error().code, "invalid_request_error");
}

}  // namespace
}  // namespace ferrox

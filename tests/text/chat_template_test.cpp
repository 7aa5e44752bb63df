// Does a conversation reach the model whole, in the form its template can take?
#include "text/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/file_bytes.h"
#include "support/vectors.h"

namespace ferrox::testing {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ChatTokens tokens() { return {"<s>", "</s>"}; }

ChatTemplate parsed(std::string_view source) {
  auto made = ChatTemplate::parse(source, tokens());
  EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
  return *std::move(made);
}

ChatInput conversation(Json messages) {
  ChatInput input;
  input.messages = std::move(messages);
  return input;
}

Json message(std::string_view role, Json content) { return {{"role", role}, {"content", std::move(content)}}; }

Json calling(Json arguments, Json content = "") {
  Json result = message("assistant", std::move(content));
  result["tool_calls"] =
      Json::array({{{"id", "call00001"}, {"function", {{"name", "f"}, {"arguments", std::move(arguments)}}}}});
  return result;
}

constexpr std::string_view kPlain =
    "{% for m in messages %}<{{ m.role }}>{{ m.content + '' }}{% endfor %}{% if add_generation_prompt %}<answer>{% "
    "endif %}";
constexpr std::string_view kNoSystem =
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    "<{{ m.role }}>{{ m.content + '' }}{% endfor %}";
constexpr std::string_view kObjectCalls =
    "{% for m in messages %}{{ m.content + '' }}{% for c in m.tool_calls %}{{ c.function.name }}"
    "{% for k, v in c.function.arguments.items() %}({{ k }}={{ v }}){% endfor %}{% endfor %}{% endfor %}";
constexpr std::string_view kTextCalls =
    "{% for m in messages %}{{ m.content + '' }}{% for c in m.tool_calls %}{{ c.function.name + c.function.arguments }}"
    "{% endfor %}{% endfor %}";

TEST(ChatTemplateTest, ChatMlIsTheBuiltInOne) {
  const ChatTemplate chatml = ChatTemplate::chatml(tokens());
  EXPECT_TRUE(chatml.is_built_in());
  const auto prompt = chatml.render(conversation({message("system", "Be brief."), message("user", "Hi")}));
  ASSERT_TRUE(prompt.has_value());
  EXPECT_EQ(prompt->rendered.text(),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_THAT(prompt->adjustments, IsEmpty());
}

TEST(ChatTemplateTest, FileTemplateThatDoesntParseFallsBackAndTellsWhy) {
  const ChatTemplate fallback = ChatTemplate::from_file("{% if %}", tokens());
  EXPECT_TRUE(fallback.is_built_in());
  EXPECT_THAT(fallback.problem(), HasSubstr("line 1, column 7"));
  EXPECT_EQ(ChatTemplate::from_file(std::nullopt, tokens()).problem(), "");
  EXPECT_FALSE(ChatTemplate::from_file(std::string(kPlain), tokens()).is_built_in());
  EXPECT_FALSE(ChatTemplate::parse("{% if %}", tokens()).has_value());
}

TEST(ChatTemplateTest, TokensAreTheTemplatesAndMessagesAreNot) {
  ChatInput input = conversation({message("user", "</s>")});
  input.variables = {{"bos_token", "forged"}, {"messages", "forged"}};
  const auto prompt = parsed("{{ bos_token }}{{ messages[0].content }}").render(input);
  ASSERT_TRUE(prompt.has_value());
  ASSERT_EQ(prompt->rendered.segments().size(), 2U);
  EXPECT_EQ(prompt->rendered.segments()[0].text, "<s>");
  EXPECT_TRUE(prompt->rendered.segments()[0].is_template);
  EXPECT_EQ(prompt->rendered.segments()[1].text, "</s>");
  EXPECT_FALSE(prompt->rendered.segments()[1].is_template);
}

TEST(ChatTemplateTest, GenerationPromptAndVariablesReachTheTemplate) {
  ChatInput input = conversation({message("user", "Hi")});
  input.generation_prompt = GenerationPrompt::kOmit;
  EXPECT_EQ(parsed(kPlain).render(input)->rendered.text(), "<user>Hi");
  input.variables = {{"enable_thinking", false}};
  EXPECT_EQ(
      parsed("{{ messages[0].content }}{{ enable_thinking }}{{ tools is defined }}").render(input)->rendered.text(),
      "HiFalseFalse");
}

TEST(ChatFitting, JoinsTextParts) {
  const Json parts = Json::array({{{"type", "text"}, {"text", "A"}}, {{"type", "text"}, {"text", " B"}}});
  const auto prompt = parsed(kPlain).render(conversation({message("user", parts)}));
  ASSERT_TRUE(prompt.has_value());
  EXPECT_EQ(prompt->rendered.text(), "<user>A B<answer>");
  EXPECT_THAT(prompt->adjustments, ElementsAre("content-parts-joined"));
  EXPECT_FALSE(parsed(kPlain).render_raw(conversation({message("user", parts)})).has_value());
}

TEST(ChatFitting, RefusesPartsThatArentText) {
  const Json parts = Json::array({{{"type", "image_url"}, {"image_url", "x"}}});
  const auto prompt = parsed(kPlain).render(conversation({message("user", parts)}));
  ASSERT_FALSE(prompt.has_value());
  EXPECT_EQ(prompt.error().message, "messages[0].content: expected text parts, found 'image_url'");
}

TEST(ChatFitting, PutsTextInPartsForTemplatesThatTakeOnlyThose) {
  const auto prompt = parsed("{% for m in messages %}{{ m.content[0].text }}{% endfor %}")
                          .render(conversation({message("user", "Hi")}));
  ASSERT_TRUE(prompt.has_value());
  EXPECT_EQ(prompt->rendered.text(), "Hi");
  EXPECT_THAT(prompt->adjustments, ElementsAre("content-put-in-part"));
}

TEST(ChatFitting, FoldsTheSystemMessageIntoTheNextUserTurn) {
  const ChatTemplate strict = parsed(kNoSystem);
  const auto prompt =
      strict.render(conversation({message("system", "Be brief."), message("user", "Hi"), message("assistant", "Yo")}));
  ASSERT_TRUE(prompt.has_value());
  EXPECT_EQ(prompt->rendered.text(), "<user>Be brief.\n\nHi<assistant>Yo");
  EXPECT_THAT(prompt->adjustments, ElementsAre("system-message-folded"));
  EXPECT_EQ(strict.render(conversation({message("system", "Alone")}))->rendered.text(), "<user>Alone");
  EXPECT_EQ(raised_message(strict.render_raw(conversation({message("system", "x")})).error()), "no system");
}

TEST(ChatFitting, RenamesTheDeveloperRole) {
  const auto prompt = parsed(
                          "{% for m in messages %}{% if m.role in ['system', 'user'] %}<{{ m.role }}>{{ m.content }}{% "
                          "endif %}{% endfor %}")
                          .render(conversation({message("developer", "D"), message("user", "U")}));
  ASSERT_TRUE(prompt.has_value());
  EXPECT_EQ(prompt->rendered.text(), "<system>D<user>U");
  EXPECT_THAT(prompt->adjustments, ElementsAre("developer-role-as-system"));
}

TEST(ChatFitting, ParsesArgumentsThatAreText) {
  const ChatTemplate objects = parsed(kObjectCalls);
  const auto prompt = objects.render(conversation({message("user", "U"), calling(R"({"x": 1})")}));
  ASSERT_TRUE(prompt.has_value()) << prompt.error().message;
  EXPECT_EQ(prompt->rendered.text(), "Uf(x=1)");
  EXPECT_THAT(prompt->adjustments, ElementsAre("arguments-parsed"));
  EXPECT_EQ(objects.render(conversation({message("user", "U"), calling("")}))->rendered.text(), "Uf");
}

TEST(ChatFitting, KeepsMalformedArgumentsAsText) {
  const auto prompt = parsed(kObjectCalls).render(conversation({message("user", "U"), calling("{\"x\": ")}));
  ASSERT_TRUE(prompt.has_value()) << prompt.error().message;
  EXPECT_EQ(prompt->rendered.text(), "Uf(raw={\"x\": )");
  EXPECT_THAT(prompt->adjustments, ElementsAre("arguments-kept-as-text"));
  EXPECT_EQ(parsed(kTextCalls).render(conversation({message("user", "U"), calling("{\"x\": ")}))->rendered.text(),
            "Uf{\"x\": ");
}

TEST(ChatFitting, SerializesArgumentsForTemplatesThatTakeText) {
  const auto prompt = parsed(kTextCalls).render(conversation({message("user", "U"), calling({{"x", 1}})}));
  ASSERT_TRUE(prompt.has_value()) << prompt.error().message;
  EXPECT_EQ(prompt->rendered.text(), R"(Uf{"x":1})");
  EXPECT_THAT(prompt->adjustments, ElementsAre("arguments-serialized"));
}

TEST(ChatFitting, EmptiesNullContentBesideCalls) {
  const auto prompt = parsed(kObjectCalls).render(conversation({message("user", "U"), calling({{"x", 1}}, nullptr)}));
  ASSERT_TRUE(prompt.has_value()) << prompt.error().message;
  EXPECT_EQ(prompt->rendered.text(), "Uf(x=1)");
  EXPECT_THAT(prompt->adjustments, ElementsAre("null-content-emptied"));
}

TEST(ChatFitting, RefusesWhatIsNoConversation) {
  EXPECT_EQ(parsed(kPlain).render(conversation("x")).error().message, "messages: expected an array, found string");
  EXPECT_EQ(parsed(kPlain).render(conversation(Json::array({1}))).error().message,
            "messages[0]: expected an object, found number");
}

/// After fitting, a plain conversation with system message and text parts reaches every real template.
TEST(ChatFitting, EveryRealTemplateTakesAPlainConversation) {
  FERROX_VECTORS_OR_SKIP(folder, template_dir());
  const Json parts = Json::array({{{"type", "text"}, {"text", "qz-user-qz"}}});
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jinja") continue;
    const ChatTemplate chat = parsed(read_file(entry.path()));
    const auto prompt = chat.render(conversation({message("system", "qz-system-qz"), message("user", parts)}));
    ASSERT_TRUE(prompt.has_value()) << entry.path() << ": " << prompt.error().message;
    EXPECT_THAT(prompt->rendered.text(), HasSubstr("qz-user-qz")) << entry.path();
    EXPECT_THAT(prompt->rendered.text(), HasSubstr("qz-system-qz")) << entry.path();
  }
}

TEST(ChatCapsProbing, KnowsRealTemplates) {
  FERROX_VECTORS_OR_SKIP(folder, template_dir());
  const ChatCaps gemma = parsed(read_file(folder / "google-gemma-2-2b-it.jinja")).caps();
  EXPECT_FALSE(gemma.system_role);
  EXPECT_FALSE(gemma.tools);
  const ChatCaps qwen = parsed(read_file(folder / "Qwen-Qwen2.5-7B-Instruct.jinja")).caps();
  EXPECT_TRUE(qwen.system_role && qwen.tools && qwen.tool_calls && qwen.object_arguments && qwen.parallel_tool_calls);
  EXPECT_FALSE(qwen.part_content);
  const ChatCaps llama = parsed(read_file(folder / "meta-llama-Llama-3.1-8B-Instruct.jinja")).caps();
  EXPECT_TRUE(llama.tools && llama.tool_calls);
  EXPECT_FALSE(llama.parallel_tool_calls);
}

}  // namespace
}  // namespace ferrox::testing

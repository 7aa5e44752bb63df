// Which tiny conversations show what a template can take?
#include "text/chat_caps.h"

#include <string_view>
#include <utility>

namespace ferrox {
namespace {

using Json = nlohmann::ordered_json;

// Words that no template writes of its own.
constexpr std::string_view kUserWord = "qzuserqz";
constexpr std::string_view kSystemWord = "qzsystemqz";
constexpr std::string_view kToolName = "qztoolqz";
constexpr std::string_view kSecondToolName = "qzothertoolqz";
constexpr std::string_view kKey = "qzkeyqz";
constexpr std::string_view kArgument = "qzargumentqz";
constexpr std::string_view kResultWord = "qzresultqz";
// Some templates accept call ids of nine letters and digits only.
constexpr std::string_view kCallId = "qzcall001";

bool contains(const std::string& text, std::string_view word) { return text.find(word) != std::string::npos; }

Json message(std::string_view role, Json content) { return {{"role", role}, {"content", std::move(content)}}; }

Json user() { return message("user", kUserWord); }

Json parts(std::string_view text) { return Json::array({{{"type", "text"}, {"text", text}}}); }

Json tool_definition() {
  const Json parameters = {{"type", "object"},
                           {"properties", {{std::string(kKey), {{"type", "string"}, {"description", kKey}}}}},
                           {"required", Json::array({kKey})}};
  return {{"type", "function"},
          {"function", {{"name", kToolName}, {"description", kToolName}, {"parameters", parameters}}}};
}

Json tool_call(std::string_view name, Json arguments) {
  return {{"id", kCallId}, {"type", "function"}, {"function", {{"name", name}, {"arguments", std::move(arguments)}}}};
}

Json object_arguments() { return {{std::string(kKey), kArgument}}; }

Json text_arguments() { return object_arguments().dump(); }

Json calling(Json content, Json calls) {
  Json result = message("assistant", std::move(content));
  result["tool_calls"] = std::move(calls);
  return result;
}

Json tool_result() {
  Json result = message("tool", kResultWord);
  result["tool_call_id"] = kCallId;
  result["name"] = kToolName;
  return result;
}

class Prober {
 public:
  explicit Prober(const ProbeRender& render) : render_(render) {}

  ChatCaps run() {
    caps_.text_content = shows({user()}, kUserWord);
    caps_.part_content = shows_parts();
    caps_.system_role = shows({message("system", content(kSystemWord)), plain_user()}, kSystemWord);
    caps_.developer_role = shows({message("developer", content(kSystemWord)), plain_user()}, kSystemWord);
    caps_.tools = shows_tools();
    probe_calls();
    return caps_;
  }

 private:
  /// Content in a form that the template is known to take.
  Json content(std::string_view text) const {
    return !caps_.text_content && caps_.part_content ? parts(text) : Json(text);
  }
  Json plain_user() const { return message("user", content(kUserWord)); }

  std::string render(Json messages, bool with_tools) const {
    Json variables = {{"messages", std::move(messages)}, {"add_generation_prompt", true}};
    if (with_tools) variables["tools"] = Json::array({tool_definition()});
    return render_(variables).value_or("");
  }
  bool shows(const std::vector<Json>& messages, std::string_view word) const {
    return contains(render(Json(messages), false), word);
  }

  /// The text of the parts, not the printed list.
  bool shows_parts() const {
    const std::string text = render(Json::array({message("user", parts(kUserWord))}), false);
    return contains(text, kUserWord) && !contains(text, "'text'") && !contains(text, "\"text\"");
  }

  bool shows_tools() const { return contains(render(Json::array({plain_user()}), true), kToolName); }

  std::string render_call(Json own_content, Json calls) const {
    return render(Json::array({plain_user(), calling(std::move(own_content), std::move(calls)), tool_result()}),
                  caps_.tools);
  }
  bool shows_call(Json own_content, Json arguments, std::string_view escaped) const {
    const std::string text =
        render_call(std::move(own_content), Json::array({tool_call(kSecondToolName, std::move(arguments))}));
    return contains(text, kSecondToolName) && contains(text, kArgument) && !contains(text, escaped);
  }

  void probe_calls() {
    const std::string twice = "\\\"" + std::string(kKey);  // what JSON text becomes when it is encoded again
    const auto any_content = [&](const Json& arguments) {
      return shows_call("", arguments, twice) || shows_call(nullptr, arguments, twice);
    };
    caps_.object_arguments = any_content(object_arguments());
    caps_.text_arguments = any_content(text_arguments());
    caps_.tool_calls = caps_.object_arguments || caps_.text_arguments;
    if (!caps_.tool_calls) return;
    const Json arguments = caps_.object_arguments ? object_arguments() : text_arguments();
    caps_.empty_content = shows_call("", arguments, twice);
    caps_.null_content = shows_call(nullptr, arguments, twice) && !prints_none(arguments);
    const Json own_content = caps_.empty_content ? Json("") : Json(nullptr);
    const Json both = Json::array({tool_call(kSecondToolName, arguments), tool_call(kToolName, arguments)});
    const std::string pair = render_call(own_content, both);
    caps_.parallel_tool_calls = contains(pair, kSecondToolName) && count(pair, kArgument) == 2;
    caps_.tool_role =
        contains(render_call(own_content, Json::array({tool_call(kSecondToolName, arguments)})), kResultWord);
  }

  /// Does a null content come out as the word that Python prints for it?
  bool prints_none(const Json& arguments) const {
    const Json calls = Json::array({tool_call(kSecondToolName, arguments)});
    const std::string text = render_call(nullptr, calls);
    return count(text, "None") + count(text, "null") >
           count(render_call("", calls), "None") + count(render_call("", calls), "null");
  }

  static size_t count(const std::string& text, std::string_view word) {
    size_t n = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++n;
    return n;
  }

  const ProbeRender& render_;
  ChatCaps caps_;
};

}  // namespace

ChatCaps probe_chat_caps(const ProbeRender& render) { return Prober(render).run(); }

}  // namespace ferrox

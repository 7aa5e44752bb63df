#include "cli/chat_session.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <nlohmann/json.hpp>

namespace ferrox {

ChatSession::ChatSession(Generate generate, std::string system, uint64_t seed)
    : generate_(std::move(generate)), seed_(seed) {
  set_system(std::move(system));
}

Result<Answer> ChatSession::ask(const std::string& text) {
  messages_.push_back({"user", text});
  auto result = answer();
  if (!result) messages_.pop_back();
  return result;
}

Result<Answer> ChatSession::regenerate() {
  if (messages_.empty() || messages_.back().role != "assistant") {
    return make_error(ErrorCode::kInvalidArgument, "there is no answer yet");
  }
  const ChatMessage previous = messages_.back();
  messages_.pop_back();
  auto result = answer();
  if (!result) messages_.push_back(previous);
  return result;
}

Result<Answer> ChatSession::answer() {
  TRY_ASSIGN(auto answer, generate_(messages_, seed_ + n_answers_));
  ++n_answers_;
  messages_.push_back({"assistant", answer.text});
  return answer;
}

void ChatSession::clear() {
  messages_.clear();
  if (!system_.empty()) messages_.push_back({"system", system_});
}

void ChatSession::set_system(std::string system) {
  system_ = std::move(system);
  clear();
}

Result<void> ChatSession::save(const std::string& path) const {
  auto list = nlohmann::ordered_json::array();
  for (const auto& message : messages_) list.push_back({{"role", message.role}, {"content", message.content}});
  const nlohmann::ordered_json json = {{"messages", std::move(list)}};
  std::ofstream file(path);
  file << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
  file.close();
  if (!file) return make_error(ErrorCode::kIo, "{}: can't write: {}", path, std::strerror(errno));
  return {};
}

}  // namespace ferrox

// Can any answer of a server break the load generator? Streams are read whole and cut; both must give the same record.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "loadgen/answer_reader.h"
#include "loadgen/stream_event.h"

namespace ferrox {
namespace {

struct ReadStream {
  RequestRecord record;
  std::string content;
};

ReadStream read_cut(std::string_view bytes, size_t cut) {
  ReadStream read;
  AnswerReader reader(read.record, std::nullopt);
  if (reader.take(bytes.substr(0, cut), 0) && reader.take(bytes.substr(cut), 0)) reader.finish();
  read.content = reader.content();
  return read;
}

/// Errors go to terminals and pages.
void check_error(const std::string& error) {
  for (const char c : error) {
    if (c < ' ' || c > '~') std::abort();
  }
}

void try_stream(std::string_view bytes, size_t cut) {
  const ReadStream whole = read_cut(bytes, bytes.size());
  const ReadStream parts = read_cut(bytes, cut);
  if (whole.record.outcome == Outcome::kSkipped || whole.record.outcome != parts.record.outcome) std::abort();
  if (whole.record.error != parts.record.error || whole.content != parts.content) std::abort();
  if (whole.record.token_ms.size() != parts.record.token_ms.size()) std::abort();
  check_error(whole.record.error);
}

}  // namespace
}  // namespace ferrox

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  ferrox::try_stream(text, text.empty() ? 0 : data[0] % text.size());
  ferrox::check_error(ferrox::message_of_refusal(std::string(text)));
  return 0;
}

#include "gguf/file_magic.h"

#include <string_view>

namespace ferrox {
namespace {

using namespace std::string_view_literals;

struct KnownMagic {
  std::string_view prefix;
  const char* meaning;
};

constexpr KnownMagic kKnownMagics[] = {
    {"FUGG"sv, "a big-endian gguf file; this program reads little-endian ones"},
    {"PK\x03\x04"sv, "a zip archive, as pytorch checkpoints are; convert the model to gguf first"},
    {"\x80\x02"sv, "a python pickle, as old pytorch checkpoints are; convert the model to gguf first"},
    {"lmgg"sv, "a model in the ggml format that came before gguf; convert the original model again"},
    {"fmgg"sv, "a model in the ggmf format that came before gguf; convert the original model again"},
    {"tjgg"sv, "a model in the ggjt format that came before gguf; convert the original model again"},
    {"algg"sv, "an adapter in the ggla format that came before gguf; convert the original adapter again"},
    {"version https://git-lfs"sv, "a git-lfs pointer; fetch the file itself with 'git lfs pull'"},
    {"<"sv, "a web page, so the download went wrong; fetch the file itself"},
    {"{"sv, "a json text; expected the weights"},
    {"\x1f\x8b"sv, "gzip-compressed; decompress it first"},
    {"\x28\xb5\x2f\xfd"sv, "zstd-compressed; decompress it first"},
    {"\xfd"
     "7zXZ"sv,
     "xz-compressed; decompress it first"},
    {"\x89HDF"sv, "an hdf5 file; convert the model to gguf first"},
};

// A safetensors file: the length of its JSON header as u64, then the header.
bool is_safetensors(std::string_view text) { return text.size() > 9 && text[7] == '\0' && text.substr(8, 2) == "{\""; }

}  // namespace

Result<void> check_magic(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("GGUF")) return {};
  if (text.empty()) return make_error(ErrorCode::kCorrupt, "the file is empty; expected a gguf file");
  if (is_safetensors(text)) {
    return make_error(ErrorCode::kUnsupported, "this is a safetensors file; convert the model to gguf first");
  }
  for (const auto& known : kKnownMagics) {
    if (text.starts_with(known.prefix)) return make_error(ErrorCode::kUnsupported, "this is {}", known.meaning);
  }
  fmt::memory_buffer hex;
  for (const auto byte : bytes.first(std::min<size_t>(bytes.size(), 4))) {
    fmt::format_to(std::back_inserter(hex), " {:02x}", static_cast<unsigned>(byte));
  }
  return make_error(ErrorCode::kCorrupt, "not a gguf file: expected the first bytes 47 47 55 46, found{}",
                    fmt::to_string(hex));
}

}  // namespace ferrox

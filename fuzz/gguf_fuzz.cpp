// Can any bytes make the model-file reader crash, hang, or hand out memory that isn't the file's?
#include <cstring>
#include <memory>

#include "base/check.h"
#include "gguf/gguf_file.h"
#include "tensor/format.h"

namespace {

using namespace ferrox;

// Reads every view and every tensor's first and last byte, so that the address sanitizer judges them.
uint64_t touch(const GgufFile& file) {
  uint64_t sum = 0;
  for (const auto& entry : file.metadata().entries()) {
    CHECK(file.metadata().find(entry.key) == &entry.value, "every entry is found by its key");
    if (const auto strings = file.metadata().get_strings(entry.key)) {
      for (const auto text : *strings) sum += text.empty() ? 0 : static_cast<unsigned char>(text.front() ^ text.back());
    }
  }
  for (const auto& tensor : file.tensors()) {
    CHECK(file.find_tensor(tensor.name) == &tensor, "every tensor is found by its name");
    sum += static_cast<uint64_t>(tensor.data[0]) + static_cast<uint64_t>(tensor.data[tensor.size_bytes - 1]);
    if (const auto* format = find_format(tensor.dtype)) {
      float block[256];
      format->decode(tensor.data, block, format->block_elements);
      sum += block[0] > 0;
    }
  }
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = GgufFile::parse(std::as_bytes(std::span(data, size)), "fuzz");
  volatile uint64_t sum = file ? touch(*file) : file.error().message.size();
  (void)sum;
  return 0;
}

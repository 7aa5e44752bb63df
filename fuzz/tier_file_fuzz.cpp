// Can any bytes make the readers of the tiers' files crash, hang, or call something good that wasn't written so?
//
// The first byte says which reader, and whether the header's size and checksum are made right, so that what lies behind
// them is reached.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "tier/checksum.h"
#include "tier/entry_file.h"
#include "tier/file_io.h"
#include "tier/session_file.h"

namespace {

using namespace ferrox;

const TierLayout kLayout{.model = {}, .page_rows = 4, .part_bytes = {24, 8}};

void mend(std::vector<std::byte>& file, std::string_view magic, size_t header_bytes) {
  if (file.size() < header_bytes || header_bytes < kHeaderPrefixBytes + kChecksumBytes) return;
  std::memcpy(file.data(), magic.data(), magic.size());
  const uint32_t version = kTierFileVersion;
  std::memcpy(file.data() + 8, &version, sizeof version);
  const uint64_t announced = header_bytes;
  std::memcpy(file.data() + 16, &announced, sizeof announced);
  const Checksum sum = checksum_of(std::span(file).first(header_bytes - kChecksumBytes));
  std::memcpy(file.data() + header_bytes - kChecksumBytes, sum.bytes.data(), kChecksumBytes);
}

Descriptor file_of(std::span<const std::byte> bytes) {
  Descriptor file(memfd_create("fuzz", MFD_CLOEXEC));
  CHECK(file.is_open() && write_pieces(file.fd(), std::span(&bytes, 1)), "a file in memory is made");
  return file;
}

/// What a file announces as its header, or all of it.
std::span<const std::byte> header_of(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderPrefixBytes) return bytes;
  return bytes.first(std::min<uint64_t>(bytes.size(), announced_header_bytes(bytes)));
}

void read_entry(std::span<const std::byte> bytes) {
  const auto header = parse_entry_header(header_of(bytes), kLayout);
  EntryFileName name{.kind = EntryKind::kPage, .key = {}, .parent = {}, .parts = 3, .n_tokens = 4};
  if (header) {
    name = header->name;
    CHECK(parse_entry_file_name(to_text(name)) == name, "a name is read back");
  }
  std::byte memory[24];
  const std::span<std::byte> piece(memory, name.parts & 1 ? 24 : 8);
  const PartTarget target{name.parts & 1 ? 0 : 1, std::span(&piece, 1)};
  const Descriptor file = file_of(bytes);
  const auto read = read_entry_file(file.fd(), kLayout, name, std::span(&target, name.parts & 3 ? 1 : 0));
  const NameProof proof = prove_name(file.fd(), kLayout, name);
  CHECK(!read || proof == NameProof::kThisModel, "what is read under a name is of that name");
  CHECK(proof != NameProof::kThisModel || header, "a name is borne out by a good header");
  CHECK(proof == NameProof::kNone || is_entry_file(file.fd()), "what is of a name is ours");
}

void read_session(std::span<const std::byte> bytes) {
  const Descriptor file = file_of(bytes);
  const auto header = read_session_header(file.fd());
  if (!header) return;
  CHECK(header->tokens.size() * sizeof(int32_t) < bytes.size(), "tokens lie in the file");
  const auto again = encode_session_header(*header);
  CHECK(std::memcmp(again.data(), bytes.data(), again.size()) == 0, "what was read is what is written");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)parse_entry_file_name(text.substr(1));
  (void)parse_session_file_name(text.substr(1));
  const bool is_session = (data[0] & 1) != 0;
  const auto all = std::as_bytes(std::span(data, size));
  std::vector<std::byte> file(all.begin() + 3, all.end());
  if ((data[0] & 2) != 0) {
    mend(file, is_session ? kSessionMagic : kEntryMagic, data[1] + size_t{256} * data[2]);
  }
  if (is_session) {
    read_session(file);
  } else {
    read_entry(file);
  }
  return 0;
}

#include "gguf/value_reader.h"

#include <concepts>
#include <string>
#include <utility>

namespace ferrox {
namespace {

// The type that a stored number is widened to.
template <class T>
struct Widened {
  using Type = double;
};
template <std::signed_integral T>
struct Widened<T> {
  using Type = int64_t;
};
template <std::unsigned_integral T>
struct Widened<T> {
  using Type = uint64_t;
};

template <class T>
Result<MetaValue> read_number(ByteCursor& cursor) {
  TRY_ASSIGN(const auto value, cursor.read<T>("a number"));
  return MetaValue(typename Widened<T>::Type{value});
}

Result<bool> bool_of(uint8_t byte) {
  if (byte <= 1) return byte == 1;
  return make_error(ErrorCode::kCorrupt, "boolean: expected 0 or 1, found {}", byte);
}

Result<MetaValue> read_bool(ByteCursor& cursor) {
  TRY_ASSIGN(const auto byte, cursor.read<uint8_t>("a boolean"));
  TRY_ASSIGN(const bool value, bool_of(byte));
  return MetaValue(value);
}

template <class T>
Result<MetaValue> read_numbers(ByteCursor& cursor, uint64_t count) {
  TRY(cursor.expect_room(count, sizeof(T), "array elements"));
  TRY_ASSIGN(const auto bytes, cursor.take(count * sizeof(T), "an array"));
  std::vector<typename Widened<T>::Type> out(count);
  for (uint64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof value);
    out[i] = value;
  }
  return MetaValue(MetaArray(std::move(out)));
}

Result<MetaValue> read_bools(ByteCursor& cursor, uint64_t count) {
  TRY_ASSIGN(const auto bytes, cursor.take(count, "an array of booleans"));
  std::vector<bool> out(count);
  for (uint64_t i = 0; i < count; ++i) {
    TRY_ASSIGN(out[i], bool_of(static_cast<uint8_t>(bytes[i])));
  }
  return MetaValue(MetaArray(std::move(out)));
}

Result<MetaValue> read_strings(ByteCursor& cursor, uint64_t count) {
  constexpr uint64_t kMinStringBytes = 8;  // the length alone
  TRY(cursor.expect_room(count, kMinStringBytes, "strings"));
  std::vector<std::string_view> out(count);
  for (auto& text : out) {
    TRY_ASSIGN(text, cursor.read_string("a string"));
  }
  return MetaValue(MetaArray(std::move(out)));
}

Error unknown_type(const char* what, uint32_t type) {
  return make_error(ErrorCode::kCorrupt, "{}: expected 0 to 12, found {}", what, type);
}

Result<MetaValue> read_array(ByteCursor& cursor) {
  TRY_ASSIGN(const auto type, cursor.read<uint32_t>("an element type"));
  TRY_ASSIGN(const auto count, cursor.read<uint64_t>("an element count"));
  switch (static_cast<ValueType>(type)) {
    case ValueType::kUint8:
      return read_numbers<uint8_t>(cursor, count);
    case ValueType::kInt8:
      return read_numbers<int8_t>(cursor, count);
    case ValueType::kUint16:
      return read_numbers<uint16_t>(cursor, count);
    case ValueType::kInt16:
      return read_numbers<int16_t>(cursor, count);
    case ValueType::kUint32:
      return read_numbers<uint32_t>(cursor, count);
    case ValueType::kInt32:
      return read_numbers<int32_t>(cursor, count);
    case ValueType::kFloat32:
      return read_numbers<float>(cursor, count);
    case ValueType::kBool:
      return read_bools(cursor, count);
    case ValueType::kString:
      return read_strings(cursor, count);
    case ValueType::kArray:
      return make_error(ErrorCode::kUnsupported, "an array of arrays; expected scalars or strings");
    case ValueType::kUint64:
      return read_numbers<uint64_t>(cursor, count);
    case ValueType::kInt64:
      return read_numbers<int64_t>(cursor, count);
    case ValueType::kFloat64:
      return read_numbers<double>(cursor, count);
  }
  return unknown_type("element type", type);
}

}  // namespace

Result<MetaValue> read_value(ByteCursor& cursor) {
  TRY_ASSIGN(const auto type, cursor.read<uint32_t>("a value type"));
  switch (static_cast<ValueType>(type)) {
    case ValueType::kUint8:
      return read_number<uint8_t>(cursor);
    case ValueType::kInt8:
      return read_number<int8_t>(cursor);
    case ValueType::kUint16:
      return read_number<uint16_t>(cursor);
    case ValueType::kInt16:
      return read_number<int16_t>(cursor);
    case ValueType::kUint32:
      return read_number<uint32_t>(cursor);
    case ValueType::kInt32:
      return read_number<int32_t>(cursor);
    case ValueType::kFloat32:
      return read_number<float>(cursor);
    case ValueType::kBool:
      return read_bool(cursor);
    case ValueType::kString: {
      TRY_ASSIGN(const auto text, cursor.read_string("a string"));
      return MetaValue(std::string(text));
    }
    case ValueType::kArray:
      return read_array(cursor);
    case ValueType::kUint64:
      return read_number<uint64_t>(cursor);
    case ValueType::kInt64:
      return read_number<int64_t>(cursor);
    case ValueType::kFloat64:
      return read_number<double>(cursor);
  }
  return unknown_type("value type", type);
}

}  // namespace ferrox

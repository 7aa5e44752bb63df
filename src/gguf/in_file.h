// Which file does an error speak of? What works on a file's contents doesn't know; whoever opened it does.
#pragma once

#include <utility>

#include "base/result.h"
#include "gguf/gguf_file.h"

namespace ferrox {

/// `result`, its error with the file's name in front where it isn't there already.
template <class T>
Result<T> in_file(const GgufFile& file, Result<T> result) {
  if (result || result.error().message.starts_with(file.name())) return result;
  return Error{result.error().code, file.name() + ": " + result.error().message};
}

}  // namespace ferrox

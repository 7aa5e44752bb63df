// What does the log say of a request? Its id in every line, and at its end one line that sums it up.
#pragma once

#include <string>
#include <string_view>

#include "base/log.h"
#include "server/http/exchange.h"
#include "server/record/exchange_record.h"

namespace ferrox {

/// A line about a request.
void log_request(spdlog::level::level_enum level, const std::string& request_id, std::string_view message,
                 LogFields fields = {});

/// The request is over: method, path, status, tokens and times.
void log_summary(const HttpRequest& request, const HttpOutcome& outcome);

/// A stream that outlived its request is over: tokens and times, as far as that request's line couldn't tell them.
void log_stream_end(const std::string& request_id, AnswerTotals::Time arrival, const ExchangeRecord& record);

}  // namespace ferrox
